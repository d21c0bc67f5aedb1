package schemaorg

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMarkupIsReadAndTextThatLooksLikeItKept(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain text", "Fish and chips", "Fish and chips"},
		{"entities", "Ann&#039;s fish &amp; chips &ndash; &#x2764;", "Ann's fish & chips – ❤"},
		{"entities escaped twice", "Events &amp;amp; Marketing", "Events & Marketing"},
		{"entities escaped three times, decoded twice", "a &amp;amp;amp; b", "a &amp; b"},
		{"tags", "<p>Plan <b>fairs</b></p>", "Plan fairs"},
		{"escaped tags", "&lt;p&gt;Plan &lt;b&gt;fairs&lt;/b&gt;&lt;/p&gt;", "Plan fairs"},
		{"tags escaped twice", "&amp;lt;p&amp;gt;Plan&amp;lt;/p&amp;gt;", "Plan"},
		{"inline tags within a word", "fan<b>tas</b>tic H<sub>2</sub>O<wbr>!", "fantastic H2O!"},
		{"blocks that touch", "<p>one</p><p>two</p><ul><li>three<li>four</ul>five<br/>six", "one\ntwo\nthree\nfour\nfive\nsix"},
		{"cells that touch", "<tr><td>one</td><td>two</td></tr>", "one two"},
		{"a picture between words", `one<img src="a>b.jpg" alt='c'>two`, "one two"},
		{"attributes with brackets and entities", `<a href="/x?a=1&amp;b=2" title="a > b">link</a>`, "link"},
		{"line breaks in markup", "<p>one\ntwo</p>\n\n<p>three</p>", "one two\nthree"},
		{"line breaks in text", "one\n\n two \r\n three", "one\ntwo\nthree"},
		{"scripts and styles", "a<script>var b = '<p>';</script>c<style type='x'>p{}</style>d", "a c d"},
		{"a script without end", "a<script>b", "a b"},
		{"comments", "a<!-- <p>b</p> -->c", "ac"},
		{"a comment without end", "a <!-- b", "a <!-- b"},
		{"a temperature", "bake at <180 °C> for long", "bake at <180 °C> for long"},
		{"comparisons", "a < b and c > d, 3<4, x<y>z", "a < b and c > d, 3<4, x<y>z"},
		{"a tag's name in a comparison", "<b and c> and i<p", "<b and c> and i<p"},
		{"a name in brackets", "List<String> by <John Doe> <john@x.example>", "List<String> by <John Doe> <john@x.example>"},
		{"an escaped comparison", "a &lt; b &gt; c", "a < b > c"},
		{"a tag that does not end", "a <p class='x", "a <p class='x"},
		{"upper case and blanks in tags", "a<BR >b</P  >c<Br / >d", "a\nb\nc\nd"},
		{"blanks of all kinds", " a\u00a0\u2003b\t c\u3000d ", "a b c d"},
		{"invisible characters", "soft\u00adhy\u200bphen\ufeff \u200eleft", "softhyphen left"},
		{"joiners that mean something", "می\u200cخواهم 👩\u200d🍳", "می\u200cخواهم 👩\u200d🍳"},
		{"nothing", " <p> </p>\u00a0", ""},
		{"an ampersand that begins nothing", "R&D & AT&T", "R&D & AT&T"},
		{"CDATA in a text", "<![CDATA[a]]>", "a]]>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := cleanText(tt.in); got != tt.want {
				t.Errorf("cleanText(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzCleanText(f *testing.F) {
	for _, s := range []string{"<p>a</p>", "&amp;lt;b&gt;", "<a b='>", "<script></scripT >", "a\u00a0\u00ad ", "<!-->-->", "<br<br>>", "\xff<b>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		in = strings.ToValidUTF8(in, "?") // as every string of a checked object is
		out := cleanText(in)
		if !utf8.ValidString(out) {
			t.Fatalf("%q became invalid: %q", in, out)
		}
		if strings.TrimSpace(out) != out || strings.Contains(out, "  ") || strings.ContainsAny(out, "\t\r\v") {
			t.Fatalf("%q has blanks left: %q", in, out)
		}
		if joinBlanks(out, false) != out {
			t.Fatalf("%q is not settled: %q", in, out)
		}
	})
}
