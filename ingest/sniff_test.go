package ingest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFormatIsToldByContent(t *testing.T) {
	object := `{"@type":"Thing","name":"a"}`
	pretty := "{\n  \"@type\": \"Thing\",\n  \"name\": \"a\"\n}\n"
	for _, c := range []struct {
		name, text string
		want       format
	}{
		{"one object on one line", object, formatValues},
		{"one object on one line with its end", object + "\r\n\n", formatValues},
		{"an object over several lines", pretty, formatValues},
		{"an object over several lines, objects inside on lines of their own",
			"{\"@graph\": [\n" + object + ",\n" + object + "\n]}\n", formatValues},
		{"the same with a trailing comma, not indented", "{\"@graph\": [\n" + object + ",\n" + object + "\n],}\n", formatValues},
		{"the same broken and indented", "{\n \"@graph\": [\n  " + object + ",\n  " + object + "\n  " + object + "\n ],\n}", formatValues},
		{"lines, most of them broken", object + "\n" + strings.Repeat(object[:20]+"\n", 9), formatLines},
		{"lines, the first of them broken, every second cut off", strings.Repeat(object[:20]+"\n"+object+"\n", 9), formatLines},
		{"lines of lists, the first broken", "[" + object[:20] + "\n[" + object + "]\n[" + object + "]", formatLines},
		{"lines, a zero byte between them", object + "\n\x00\n" + object, formatLines},
		{"a page with a zero byte", "<p>\x00</p>", formatHTML},
		{"a word behind an object, one over several lines after it", object + " oops\n" + pretty, formatValues},
		{"a list over several lines", "[\n" + object + ",\n" + object + "\n]", formatValues},
		{"a list on one line", "[" + object + "," + object + "]", formatValues},
		{"several objects over several lines", pretty + pretty, formatValues},
		{"one line, then an object over several lines", object + "\n" + pretty, formatValues},
		{"objects on lines", object + "\n" + object + "\n", formatLines},
		{"objects on lines with blank lines and CRLF", "\r\n" + object + "\r\n\r\n" + object, formatLines},
		{"lists on lines", "[" + object + "]\n[" + object + "]\n", formatLines},
		{"objects on lines, each with a comma", object + ",\n" + object + ",\n" + object, formatLines},
		{"objects on lines, the first broken", "{\"@type\":\n" + object + "\n" + object, formatLines},
		{"objects on lines, the first with a bad member", "{\"a\":,}\n" + object + "\n" + object, formatLines},
		{"objects on lines, a later one broken", object + "\n{\"a\n" + object, formatLines},
		{"objects on lines, after a line of something else", "# made by hand\n" + object + "\n" + object, formatLines},
		{"two objects on each line", object + object + "\n" + object + object + "\n", formatLines},
		{"two objects on one line", object + object, formatValues},
		{"url, tab, object", "https://a.example/1\t" + object + "\nhttps://a.example/2\t" + object + "\n", formatLines},
		{"url, tab, list, one line", "https://a.example/1\t[" + object + "]", formatLines},
		{"url, tab, JSON in a string", "https://a.example/1\t\"{}\"", formatLines},
		{"a head line, then url, tab, object", "url\tjson\nhttps://a.example/1\t" + object + "\nhttps://a.example/2\t" + object + "\n", formatLines},
		{"an object behind a comment of JavaScript", "/* made by shop 2.1 */\n" + pretty, formatValues},
		{"an object behind a comment of HTML", "<!-- made by shop 2.1 -->\n" + pretty, formatValues},
		{"an object in a CDATA section", "<![CDATA[" + pretty + "]]>", formatValues},
		{"an object with entities for quotes", "{&quot;@type&quot;:&quot;Thing&quot;}", formatValues},
		{"HTML", "<!DOCTYPE html>\n<html><head>", formatHTML},
		{"HTML after a comment", "<!-- saved from url -->\n<html>", formatHTML},
		{"HTML after text", "Saved page\n<html><body>", formatHTML},
		{"a piece of HTML", "<script type=\"application/ld+json\">" + object + "</script>", formatHTML},
		{"XHTML", "<?xml version=\"1.0\"?>\n<!DOCTYPE html PUBLIC \"x\" \"y\">\n<html xmlns=\"z\">", formatHTML},
		{"HTML full of JSON", "<html><script>var a = [{\"b\":1}];\n{\"c\":2}\n</script>", formatHTML},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := sniff([]byte(c.text), true)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestALongBeginningIsTold(t *testing.T) {
	object := `{"@type":"Thing","name":"a"}`
	for _, c := range []struct {
		name, text string
		want       format
	}{
		{"objects on lines", strings.Repeat(object+"\n", 100) + object[:5], formatLines},
		{"an object with a line longer than the window", `{"text":"` + strings.Repeat("x", 100), formatValues},
		{"a list of lines", "[\n" + strings.Repeat(object+",\n", 100), formatValues},
		{"blanks", strings.Repeat(" \n", 100), formatLines},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := sniff([]byte(c.text), false)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestWhatIsOfNoFormatIsSaid(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "is empty"},
		{"blanks", " \n\t\r\n", "is empty"},
		{"a picture", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "is binary"},
		{"control characters", "\x01\x02\x03{", "is binary"},
		{"a few control characters, behind blanks", strings.Repeat(" \n", 64) + "\x01\x02 {\"name\":\"a\"}", "is binary"},
		{"prose", "Dear reader,\nthis is a letter.\n", "is neither JSON, JSON Lines, url<TAB>JSON lines nor HTML"},
		{"a number", "42", "is neither JSON, JSON Lines, url<TAB>JSON lines nor HTML"},
		{"RSS", "<?xml version=\"1.0\"?>\n<rss version=\"2.0\">", "is XML (<rss>), which is not read"},
		{"Atom", "<feed xmlns=\"http://www.w3.org/2005/Atom\">", "is XML (<feed>), which is not read"},
		{"RSS with HTML in it", "<rss><description>&lt;html&gt;<html>", "is XML (<rss>), which is not read"},
		{"other XML", "<?xml version=\"1.0\"?><books/>", "is XML, which is not read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := sniff([]byte(c.text), true)
			require.EqualError(t, err, c.want)
			require.Equal(t, formatUnknown, got)
		})
	}
}

// FuzzSniff: whatever the bytes, they are of a format or it is said why not,
// blanks in front change nothing, and what is told lines holds a line.
func FuzzSniff(f *testing.F) {
	for _, s := range []string{"", "{}", "{}\n{}", "[\n{}", "a\t{}", "<html>", "<!-- --> {", "<![CDATA[", "{\"a\":1}x\n{", "\x00", "\xff\xfe{"} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, whole bool) {
		got, err := sniff(text, whole)
		if (got == formatUnknown) != (err != nil) {
			t.Fatalf("format %d with error %v, want one of them", got, err)
		}
		again, errAgain := sniff(append([]byte("\n \r\n"), text...), whole)
		if got != again && len(bytes.TrimSpace(text)) > 0 {
			t.Fatalf("format %d, behind blanks %d (%v, %v)", got, again, err, errAgain)
		}
	})
}
