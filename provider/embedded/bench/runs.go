package main

import (
	"fmt"
	"strconv"
	"strings"
)

// configuration is one run: how many documents on how many sites, and how many
// queries each engine answers in each scope.
type configuration struct {
	documents, sites, queries int
	alone                     bool // only the first engine
}

// The configurations of -all. FTS5 takes about a fifth of a second for a query
// of all sites at 200,000 documents, so there are fewer queries there.
const (
	allRuns  = "64000x58:200,64000x1000:200,64000x1:200,200000x58:100,200000x1000:100,200000x1:100"
	allAlone = "1000000x58:300,1000000x1000:300"
)

// defaultQueries is how many queries a configuration has that does not say.
const defaultQueries = 500

// parseConfigurations reads a list such as "64000x58:300,200000x1": documents,
// sites, queries. 0 documents are those of the file, 0 sites its own.
func parseConfigurations(list string, alone bool) ([]configuration, error) {
	var out []configuration
	for _, text := range strings.Split(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		c, err := parseConfiguration(text)
		if err != nil {
			return nil, err
		}
		c.alone = alone
		out = append(out, c)
	}
	return out, nil
}

func parseConfiguration(text string) (configuration, error) {
	c := configuration{queries: defaultQueries}
	size, queries, said := strings.Cut(text, ":")
	documents, sites, ok := strings.Cut(size, "x")
	wrong := func() (configuration, error) {
		return c, fmt.Errorf("run %q: want DOCUMENTSxSITES or DOCUMENTSxSITES:QUERIES, such as 64000x58:500", text)
	}
	if !ok {
		return wrong()
	}
	var err error
	if c.documents, err = strconv.Atoi(documents); err != nil || c.documents < 0 {
		return wrong()
	}
	if c.sites, err = strconv.Atoi(sites); err != nil || c.sites < 0 {
		return wrong()
	}
	if said {
		if c.queries, err = strconv.Atoi(queries); err != nil || c.queries < 1 {
			return wrong()
		}
	}
	return c, nil
}
