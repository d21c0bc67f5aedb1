package plugin

// StartError says why a plugin could not be started, or not be kept running.
type StartError struct{}

// Error implements error.
func (e *StartError) Error() string { return "" }
