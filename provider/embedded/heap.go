package embedded

// A heap is a list in which element i is not less than element (i-1)/2, so that
// the least is the first. container/heap would call through an interface for
// each step of a merge.

// raiseLast makes a list a heap that is one but for its last.
func raiseLast[T any](list []T, less func(a, b T) bool) {
	for i := len(list) - 1; i > 0; {
		parent := (i - 1) / 2
		if !less(list[i], list[parent]) {
			return
		}
		list[i], list[parent] = list[parent], list[i]
		i = parent
	}
}

// sinkFirst makes a list a heap that is one but for its first.
func sinkFirst[T any](list []T, less func(a, b T) bool) {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(list) {
			return
		}
		if child+1 < len(list) && less(list[child+1], list[child]) {
			child++
		}
		if !less(list[child], list[i]) {
			return
		}
		list[i], list[child] = list[child], list[i]
		i = child
	}
}
