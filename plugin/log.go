package plugin

import (
	"io"
	"log/slog"
	"os"
	"strings"
)

// NewLogger returns a logger for a plugin: it writes to standard error, one
// JSON object per line, in the dialect that go-plugin hosts read levels from.
// Call it before Serve, or leave it to Serve.
func NewLogger(level slog.Leveler) *slog.Logger { return newLogger(os.Stderr, level) }

// hclogTime is the one layout of a time that hosts accept.
const hclogTime = "2006-01-02T15:04:05.000000Z07:00"

func newLogger(w io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) > 0 {
				return a
			}
			switch {
			case a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime:
				return slog.String("@timestamp", a.Value.Time().Format(hclogTime))
			case a.Key == slog.MessageKey:
				a.Key = "@message"
			case a.Key == slog.LevelKey:
				if level, ok := a.Value.Any().(slog.Level); ok {
					return slog.String("@level", hclogLevel(level))
				}
			}
			return a
		},
	}))
}

func hclogLevel(level slog.Level) string {
	switch {
	case level < slog.LevelDebug:
		return "trace"
	case level < slog.LevelInfo:
		return "debug"
	case level < slog.LevelWarn:
		return "info"
	case level < slog.LevelError:
		return "warn"
	}
	return "error"
}

// levelFromEnv is the level that the host asks for, Info if it asks for none.
func levelFromEnv() slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(strings.TrimSpace(os.Getenv(LogLevelEnv)))); err != nil {
		return slog.LevelInfo
	}
	return level
}
