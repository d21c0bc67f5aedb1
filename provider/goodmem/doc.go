// Package goodmem speaks to a GoodMem server over REST: filters, identifiers,
// the stream of a retrieval, spaces. What goes into a request is checked before
// it leaves, so that no text of a user's ever becomes a path or a filter, and
// what comes back keeps the server's own words.
//
// It reads no environment variable and no configuration file, and keeps no
// documents: those are the server's.
package goodmem
