// Package ingest reads Schema.org objects from files and streams and puts them
// into a store: sources, then objects, then batches, then one outcome per
// document, then a [Report].
//
//	report, err := ingest.Run(ctx, ingest.Options{Store: p, Sources: []string{"dump.jsonl.gz"}})
//
// What an input is, is told by its content, never by its name. Every input is
// read as a stream, so memory stays bounded whatever its size, and whatever
// fails (a source, a line, a script, a document) fails alone and is named in
// the report. How objects are read out of JSON-LD is package schemaorg's
// business; keeping and finding them is the store's.
package ingest
