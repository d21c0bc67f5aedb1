package goodmemtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siteprovider/siteprovider/provider/goodmem/goodmemtest/filter"
)

func TestWhatSharesWordsComesFirstAndTheRestAfter(t *testing.T) {
	c := serve(t, Options{})
	id := c.srv.AddSpace("s")
	for _, text := range []string{"Soups with noodles and coconut", "A noodle dish", "Crème brûlée", "Nothing of the kind", "拉麵 noodle"} {
		c.srv.AddMemory(id, text, nil)
	}
	got := c.retrieve(id, "coconut noodle soup", nil)
	require.Len(t, texts(got), 5, "a vector search leaves nothing out")
	require.Equal(t, "Soups with noodles and coconut", texts(got)[0])
	require.ElementsMatch(t, []string{"A noodle dish", "拉麵 noodle"}, texts(got)[1:3])
	require.Equal(t, []string{"BEGIN retrieve", "END"}, codes(got))
	for i, s := range scores(got) {
		require.True(t, s < 0 && s > -1, s)
		require.True(t, i == 0 || scores(got)[i-1] <= s, "not ascending")
	}
	require.Equal(t, texts(got)[:2], texts(c.retrieve(id, "coconut noodle soup", object{"requestedSize": 2})))
	require.Equal(t, "Crème brûlée", texts(c.retrieve(id, "creme BRULEE", nil))[0])
	require.Equal(t, "拉麵 noodle", texts(c.retrieve(id, "麵", nil))[0])

	lexical := serve(t, Options{MatchesOnly: true})
	id = lexical.srv.AddSpace("s")
	lexical.srv.AddMemory(id, "A noodle dish", nil)
	lexical.srv.AddMemory(id, "Nothing of the kind", nil)
	require.Equal(t, []string{"A noodle dish"}, texts(lexical.retrieve(id, "noodles", nil)))
	require.Empty(t, texts(lexical.retrieve(id, "zebra", nil)))
}

func TestTheSameQuestionHasTheSameAnswer(t *testing.T) {
	c := serve(t, Options{})
	id := c.srv.AddSpace("s")
	for i := range 40 {
		c.srv.AddMemory(id, fmt.Sprintf("noodle soup %d with prawns %d and tofu %d", i%3, i%5, i%7), nil)
	}
	ask := func() string {
		body := c.search(id, "tofu prawns 1 2 3 4 soup with noodle", "", nil)
		return anyUUID.ReplaceAllString(anyTime.ReplaceAllString(body, ""), "")
	}
	first := ask()
	for range 20 {
		require.Equal(t, first, ask())
	}
}

func TestTheDefaultSizeIsTwenty(t *testing.T) {
	c := serve(t, Options{})
	id := c.srv.AddSpace("s")
	for i := range 30 {
		c.srv.AddMemory(id, fmt.Sprintf("noodle %d", i), nil)
	}
	require.Len(t, texts(c.retrieve(id, "noodle", nil)), 20)
	require.Len(t, texts(c.retrieve(id, "noodle", object{"requestedSize": 0})), 20)
	require.Len(t, texts(c.retrieve(id, "noodle", object{"requestedSize": 25})), 25)
}

func TestALongTextIsSeveralChunksOfOneDefinition(t *testing.T) {
	c := serve(t, Options{})
	spaceID := c.srv.AddSpace("s")
	var paragraphs []string
	for i := range 12 {
		paragraphs = append(paragraphs, strings.Repeat(fmt.Sprintf("noodle %d é𝄞 ", i), 8))
	}
	content := strings.Join(paragraphs, "\n\n")
	long := c.srv.AddMemory(spaceID, content, nil)
	short := c.srv.AddMemory(spaceID, "rice", nil)
	var order []string
	numbers := make(map[int]bool)
	got := c.retrieve(spaceID, "noodle", object{"requestedSize": 50})
	for _, e := range got {
		switch {
		case e.MemoryDefinition != nil:
			order = append(order, "define "+e.MemoryDefinition.MemoryID)
		case e.RetrievedItem != nil:
			ch := e.RetrievedItem.Chunk
			require.Equal(t, units(ch.Chunk.ChunkText), ch.Chunk.EndOffset-ch.Chunk.StartOffset)
			require.LessOrEqual(t, len([]rune(ch.Chunk.ChunkText)), 512)
			if ch.Chunk.MemoryID == long {
				require.Equal(t, 0, ch.MemoryIndex)
				require.False(t, numbers[ch.Chunk.ChunkSequenceNumber])
				numbers[ch.Chunk.ChunkSequenceNumber] = true
				require.Contains(t, content+"\n", ch.Chunk.ChunkText)
			} else {
				require.Equal(t, 1, ch.MemoryIndex)
			}
		}
	}
	require.Equal(t, []string{"define " + long, "define " + short}, order)
	require.Greater(t, len(numbers), 2)
	require.Equal(t, len(numbers)+1, *got[0].ResultSetBoundary.ExpectedItems)
	// The size counts chunks, and no definitions come where none are wanted.
	for _, e := range c.retrieve(spaceID, "noodle", object{"requestedSize": 2, "fetchMemory": false}) {
		require.Nil(t, e.MemoryDefinition)
	}
	require.Len(t, texts(c.retrieve(spaceID, "noodle", object{"requestedSize": 2})), 2)
}

func TestChunksTogetherHoldTheWholeText(t *testing.T) {
	text := strings.Repeat("One sentence. Another one! 日本語の文。 "+strings.Repeat("x", 90)+"\n", 20)
	for _, how := range []chunking{
		{None: &noChunking{}}, {Recursive: &recursiveChunking{Size: 40, Overlap: 10}}, {Recursive: &recursiveChunking{Size: 1}}, {Recursive: &recursiveChunking{Size: 10, Overlap: 3}},
		{Recursive: &recursiveChunking{Size: 64, Overlap: 63, Separators: []string{`\s+`}, SeparatorIsRegex: true}},
		{Recursive: &recursiveChunking{Size: 7, Overlap: 2, Measurement: "TOKEN_COUNT"}}, {Sentence: &sentenceChunking{Max: 50, Min: 1}},
	} {
		require.Empty(t, how.complete())
		for _, text := range []string{"", "\n", "x\n", strings.Repeat("a b ", 20), text} {
			end := 0
			pieces := how.cut(text)
			for i, p := range pieces {
				require.True(t, p.start <= end && p.end >= end && (i == 0 || p.start > pieces[i-1].start), "%v after %d", p, end)
				if r := how.Recursive; r != nil {
					require.LessOrEqual(t, measure(r.Measurement)(text[p.start:p.end]), r.Size)
					require.LessOrEqual(t, measure(r.Measurement)(text[p.start:end]), r.Overlap)
				}
				end = p.end
			}
			require.Equal(t, len(text), end)
		}
	}
}

func TestSeveralSpacesAreOneResultSetWithAFilterEach(t *testing.T) {
	c := serve(t, Options{})
	a, b := c.srv.AddSpace("a"), c.srv.AddSpace("b")
	c.srv.AddMemory(a, "noodle soup a1", object{"site": "x"})
	c.srv.AddMemory(a, "noodle soup a2", object{"site": "y"})
	c.srv.AddMemory(b, "noodle soup b1", object{"site": "x"})
	c.srv.AddMemory(b, "noodle soup b2", object{"site": "y"})
	const x, y = `CAST(val('$.site') AS TEXT) = 'x'`, `CAST(val('$.site') AS TEXT) = 'y'`
	keys := []object{{"spaceId": a, "filter": x}, {"spaceId": strings.ToUpper(b), "filter": y}}
	got := c.do(http.StatusOK, "POST", "/v1/memories:retrieve", object{"message": "noodle soup", "spaceKeys": keys}).events(t)
	require.ElementsMatch(t, []string{"noodle soup a1", "noodle soup b2"}, texts(got))
	got = c.do(http.StatusOK, "POST", "/v1/memories:retrieve", object{"message": "soup b1", "requestedSize": 3, "spaceKeys": []object{{"spaceId": a}, {"spaceId": b}}}).events(t)
	require.Len(t, texts(got), 3)
	require.Equal(t, "noodle soup b1", texts(got)[0])
	require.IsNonDecreasing(t, scores(got))
	require.Equal(t, []string{"BEGIN retrieve", "END"}, codes(got))
	byQuery := c.do(http.StatusOK, "GET", "/v1/memories:retrieve?message=noodle&spaceIds="+a+","+b+"&requestedSize=3&fetchMemory=false&pp_reranker_id="+
		c.srv.AddReranker(Reranker{})+"&pp_max_results=2", nil).events(t)
	require.Len(t, texts(byQuery), 2)
	require.Equal(t, []string{"FEATURE_DISABLED", "BEGIN rerank", "END"}, codes(byQuery))
}

func TestABadFilterIsRefusedAndABadCastFailsInside(t *testing.T) {
	for _, d := range []filter.Dialect{filter.Backslash, filter.Doubled} {
		c := serve(t, Options{Dialect: d})
		id := c.srv.AddSpace("s")
		c.srv.AddMemory(id, "noodle", object{"name": "O'Brien", "n": 5})
		status := map[string]int{
			`CAST(val('$.name') AS TEXT) = 'O\'Brien'`:    map[filter.Dialect]int{filter.Backslash: 200, filter.Doubled: 400}[d],
			`CAST(val('$.name') AS TEXT) = 'O''Brien'`:    map[filter.Dialect]int{filter.Backslash: 400, filter.Doubled: 200}[d],
			`CAST(val('$.name') AS TEXT) = "O"`:           400,
			`val('$.name')`:                               400,
			`CAST(val('$.n') AS NUMBER) = 5`:              500,
			`1 / (CAST(val('$.n') AS NUMERIC) - 5) = 1`:   500,
			`CAST(val('$.n') AS NUMERIC) = 5`:             200,
			`CAST(val('$.n') AS TEXT) = '5' -- for now ;`: 200,
		}
		for expression, want := range status {
			got := c.do(want, "POST", "/v1/memories:retrieve", object{"message": "noodle", "spaceKeys": []object{{"spaceId": id, "filter": expression}}})
			if want == 200 {
				require.Len(t, texts(got.events(t)), 1, expression)
			} else {
				require.Contains(t, got.body, fmt.Sprintf(`"status":%d,"timestamp":`, want))
			}
			page := c.list(want, id, "filter", expression)
			if want == 200 {
				require.Len(t, page.Memories, 1, expression)
			}
		}
	}
}

func TestPostProcessors(t *testing.T) {
	at := &clock{at: New(Options{}).now()}
	c := serve(t, Options{Now: at.now})
	id := c.srv.AddSpace("s")
	for _, text := range []string{"noodle soup one", "noodle two", "three"} {
		at.at = at.at.Add(1e9)
		c.srv.AddMemory(id, text, nil)
	}
	byLength := c.srv.AddReranker(Reranker{Score: func(_, chunk string) float64 { return -float64(len(chunk)) / 100 }})
	const message = "noodle soup"
	vector := c.retrieve(id, message, nil)
	require.Equal(t, []string{"noodle soup one", "noodle two", "three"}, texts(vector))

	t.Run("reranked", func(t *testing.T) {
		got := c.retrieve(id, message, post(object{"reranker_id": strings.ToUpper(byLength)}))
		require.Equal(t, []string{"FEATURE_DISABLED", "BEGIN rerank", "END"}, codes(got))
		require.Equal(t, []string{"three", "noodle two", "noodle soup one"}, texts(got))
		require.Equal(t, []float64{single(-0.06), single(-0.11), single(-0.16)}, scores(got))
	})
	t.Run("threshold, size, time", func(t *testing.T) {
		got := c.retrieve(id, message, post(object{"reranker_id": byLength, "relevance_threshold": -0.12, "chronological_resort": true}))
		require.Equal(t, []string{"noodle two", "three"}, texts(got))
		got = c.retrieve(id, message, post(object{"reranker_id": byLength, "max_results": 1, "rerankerId": "ignored"}))
		require.Equal(t, []string{"three"}, texts(got))
	})
	t.Run("time is the default where the option says so", func(t *testing.T) {
		c := serve(t, Options{ChronologicalResort: true})
		id := c.srv.AddSpace("s")
		c.srv.AddMemory(id, "noodle two", nil)
		c.srv.AddMemory(id, "noodle soup one", nil)
		r := c.srv.AddReranker(Reranker{})
		require.Equal(t, []string{"noodle two", "noodle soup one"}, texts(c.retrieve(id, message, post(object{"reranker_id": r}))))
		require.Equal(t, []string{"noodle soup one", "noodle two"}, texts(c.retrieve(id, message, post(object{"reranker_id": r, "chronological_resort": false}))))
		require.Equal(t, []string{"noodle soup one", "noodle two"}, texts(c.retrieve(id, message, nil)))
	})
	t.Run("a reranker that fails, or says nothing", func(t *testing.T) {
		failing := c.srv.AddReranker(Reranker{Fail: "HTTP 500"})
		got := c.retrieve(id, message, post(object{"reranker_id": failing}))
		require.Equal(t, []string{"FEATURE_DISABLED", "RERANKING_FAILED", "BEGIN retrieve", "END"}, codes(got))
		require.Equal(t, texts(vector), texts(got))
		require.Equal(t, scores(vector), scores(got))
		silent := c.srv.AddReranker(Reranker{SilentAbove: 2})
		got = c.retrieve(id, message, post(object{"reranker_id": silent}))
		require.Equal(t, []string{"FEATURE_DISABLED", "BEGIN retrieve", "END"}, codes(got))
		require.Equal(t, scores(vector), scores(got))
	})
	t.Run("an answer, none and both", func(t *testing.T) {
		llm := c.srv.AddLLM(LLM{Answer: func(query string, chunks []string) string { return fmt.Sprint(query, len(chunks)) }})
		got := c.retrieve(id, message, post(object{"reranker_id": byLength, "llm_id": llm, "llm_temp": 2.0, "gen_token_budget": 10}))
		require.Equal(t, []string{"BEGIN rerank", "END", "reply"}, codes(got))
		require.Equal(t, "noodle soup3", got[len(got)-1].AbstractReply.Text)
		got = c.retrieve(id, message, post(object{"llm_id": c.srv.AddLLM(LLM{})}))
		require.Contains(t, got[len(got)-1].AbstractReply.Text, "noodle soup one")
		got = c.retrieve(id, message, post(object{"llm_id": c.srv.AddLLM(LLM{Fail: "429: rate limit reached"})}))
		require.Equal(t, []string{"BEGIN retrieve", "END", "SUMMARIZATION_FAILED"}, codes(got))
		require.Contains(t, got[len(got)-1].Status.Message, "429")
		got = c.retrieve(id, message, post(object{"reranker_id": byLength, "llm_id": nobody}))
		require.Equal(t, []string{"NOT_FOUND", "BEGIN rerank", "END", "SUMMARIZATION_FAILED"}, codes(got))
		got = c.retrieve(id, message, post(object{"reranker_id": nobody, "llm_id": nobody}))
		require.Equal(t, []string{"NOT_FOUND", "NOT_FOUND", "RERANKING_FAILED", "BEGIN retrieve", "END", "SUMMARIZATION_FAILED"}, codes(got))
		empty := c.srv.AddSpace("empty")
		got = c.retrieve(empty, message, post(object{"llm_id": c.srv.AddLLM(LLM{})}))
		require.Equal(t, []string{"BEGIN retrieve", "END", "reply"}, codes(got))
	})
	t.Run("nothing without a model, and nothing invalid", func(t *testing.T) {
		got := c.retrieve(id, message, post(object{"max_results": 1, "chronological_resort": true}))
		require.Equal(t, texts(vector), texts(got))
		require.Equal(t, []string{"BEGIN retrieve", "END"}, codes(got))
		for _, bad := range []object{{"max_results": 0}, {"llm_temp": 2.1}, {"gen_token_budget": 0}, {"reranker_id": 5}, {"relevance_threshold": "x"}} {
			in := post(bad)
			in["message"], in["spaceKeys"] = message, []object{{"spaceId": id}}
			c.do(http.StatusBadRequest, "POST", "/v1/memories:retrieve", in)
		}
		c.do(http.StatusBadRequest, "POST", "/v1/memories:retrieve",
			object{"message": message, "spaceKeys": []object{{"spaceId": id}}, "postProcessor": object{"name": "Other"}})
	})
}

func TestAnEmbedderThatFailsLeavesOneStatus(t *testing.T) {
	c := serve(t, Options{})
	id := c.srv.AddSpace("s", c.srv.AddEmbedder(Embedder{Broken: true}))
	c.srv.AddMemory(id, "noodle", nil)
	got := c.retrieve(id, "noodle", nil)
	require.Len(t, got, 1)
	require.Equal(t, Status{Code: "EMBEDDER_FAILED", Message: "Embedding failed: Failed to create inference client"}, *got[0].Status)
}

// The index of texts must not change what a filter finds.
func TestFiltersFindTheSameWithAndWithoutTheIndex(t *testing.T) {
	c := serve(t, Options{})
	id := c.srv.AddSpace("s")
	var want []string
	for i := range 300 {
		m := c.srv.AddMemory(id, fmt.Sprintf("noodle %d", i), object{"site": fmt.Sprint("s", i%7), "n": i, "long": strings.Repeat("y", 2000) + fmt.Sprint(i%2)})
		if i%3 == 0 {
			c.do(http.StatusNoContent, "DELETE", "/v1/memories/"+m, nil)
		} else if i%7 == 4 {
			want = append(want, fmt.Sprintf("noodle %d", i))
		}
	}
	slices.Sort(want)
	for _, expression := range []string{
		`CAST(val('$.site') AS TEXT) = 's4'`, `CAST(val('$.site') AS TEXT) LIKE 's4'`, `CAST(val('$.site') AS TEXT) IN ('s4', 's9')`,
		`CAST(val('$.site') AS TEXT) = 's4' OR CAST(val('$.site') AS TEXT) = 's4'`, `CAST(val('$.site') AS TEXT) = 's4' AND CAST(val('$.n') AS NUMERIC) >= 0`, `NOT (CAST(val('$.site') AS TEXT) != 's' || '4')`,
		`CAST(val('$.site') AS TEXT) = 's4' AND CAST(val('$.long') AS TEXT) IN ('` + strings.Repeat("y", 2000) + `0', '` + strings.Repeat("y", 2000) + `1')`,
	} {
		in := object{"message": "noodle", "requestedSize": 300, "spaceKeys": []object{{"spaceId": id, "filter": expression}}}
		got := texts(c.do(http.StatusOK, "POST", "/v1/memories:retrieve", in).events(t))
		slices.Sort(got)
		require.Equal(t, want, got, expression)
		require.Len(t, c.list(http.StatusOK, id, "filter", expression).Memories, len(want), expression)
	}
}

// What the index counts has to be what it holds, whatever came and went.
func TestTheIndexHoldsWhatIsThere(t *testing.T) {
	at := &clock{at: New(Options{}).now()}
	c := serve(t, Options{Now: at.now, IndexDelay: 10e9})
	id := c.srv.AddSpace("s")
	var ids []string
	for i := range 200 {
		at.at = at.at.Add(1e9)
		ids = append(ids, c.create(id, fmt.Sprintf("noodle %d of %d", i%9, i), object{"site": fmt.Sprint(i % 3)}))
		if i%4 != 0 {
			which := len(ids) * (i % 8) / 8 // some of these are indexed, some wait
			c.do(http.StatusNoContent, "DELETE", "/v1/memories/"+ids[which], nil)
			ids = slices.Delete(ids, which, which+1)
		}
	}
	at.at = at.at.Add(time.Minute)
	held := len(c.srv.Memories(id))
	corpus := &c.srv.spaces[id].corpus
	chunks, length, terms := 0, 0, make(map[string]int)
	for _, m := range corpus.live() {
		for _, ch := range m.chunks {
			chunks++
			length += ch.length
			for term := range ch.terms {
				terms[term]++
			}
		}
	}
	require.NotZero(t, chunks)
	require.Equal(t, [2]int{chunks, length}, [2]int{corpus.chunks, corpus.length})
	require.Len(t, corpus.terms, len(terms))
	for term, p := range corpus.terms {
		require.Equal(t, terms[term], len(p.list)-p.gone, term)
	}
	texts := 0
	for _, b := range corpus.texts {
		texts += len(b.memories) - b.gone
	}
	require.Equal(t, held, texts)
	require.LessOrEqual(t, len(corpus.memories), 2*held)
}
