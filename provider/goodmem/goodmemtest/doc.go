// Package goodmemtest is a GoodMem server for tests: an http.Handler that
// speaks the REST wire of servers of the line v1.0.32x, in memory, without a
// model or a network.
//
//	srv := goodmemtest.New(goodmemtest.Options{})
//	web := httptest.NewServer(srv)
//	defer web.Close()
//	space := srv.AddSpace("recipes")
//	srv.AddMemory(space, "A coconut curry noodle soup.", map[string]any{"url": "https://example.com/laksa"})
//	// any client of GoodMem now works against web.URL with any API key
//
// It serves spaces, embedders, rerankers, LLMs, memories (create, batchCreate,
// batchGet, batchDelete, list, get, content, delete) and memories:retrieve.
// What it answers is made after recordings of real servers: the order of
// properties and events, what is left out, whole numbers of metadata that come
// back as 2026.0, the line feed that a chunk has more than its content, the
// three shapes of errors. Package filter, below it, evaluates filters.
//
// # What is not real
//
// Texts are compared by their words, not by vectors; the scores are negative
// and lowest first, as a server's are. What no recording shows is a guess that
// the documentation or the official SDK makes likely: the bodies of 401, 403,
// 429 and 5xx, a failed item of a batch, the processing history, how a long
// text is cut, that metadata with U+0000 is refused. Where sources disagree an
// option chooses; see Options. Not there: server-sent events, page images, OCR,
// users, API keys, access policies, ping, admin. The fields hnsw, outputBudget,
// logging, context and embedderWeights are read and do nothing.
//
// # Faults and the record
//
// Inject makes requests fail: with a status, a cut connection, a slow or
// truncated stream, failed items of a batch, or statuses in a retrieval.
// Requests returns what was received, with the bodies, for assertions.
// Options.IndexDelay and Options.Index keep memories from being found for a
// while, or for good.
package goodmemtest
