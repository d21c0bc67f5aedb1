package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// coldOpens is how many of the first queries are asked once more with the files
// out of the system's cache.
const coldOpens = 3

// openings opens each store in fresh processes and asks each one question,
// first with the files in the system's cache, then without.
func (b *bench) openings(ctx context.Context) error {
	var ofBiggest []question
	for _, q := range b.questions {
		if q.site == b.biggest {
			ofBiggest = append(ofBiggest, q)
		}
	}
	if len(ofBiggest) == 0 {
		ofBiggest = b.questions
	}
	for round := range b.opens {
		q := ofBiggest[round%len(ofBiggest)]
		for _, i := range b.rotated(round) {
			m := b.engines[i]
			if err := b.firstQueries(ctx, m, q, &m.warm, nil); err != nil {
				return err
			}
		}
	}
	for round := range min(coldOpens, b.opens) {
		q := ofBiggest[round%len(ofBiggest)]
		for _, i := range b.rotated(round) {
			m := b.engines[i]
			if err := b.firstQueries(ctx, m, q, &m.cold, dropFromCache); err != nil {
				return err
			}
		}
	}
	return nil
}

// firstQueries asks a process about the biggest site and another about all, and
// calls before in front of each where it is not nil.
func (b *bench) firstQueries(ctx context.Context, m *measured, q question, to *firsts, before func(dir string) (bool, error)) error {
	for _, ask := range []struct {
		sites []string
		took  *[]time.Duration
	}{{[]string{b.biggest}, &to.one}, {nil, &to.all}} {
		if before != nil {
			if ok, err := before(m.dir); err != nil || !ok {
				return err
			}
		}
		c, opening, err := startOpen(ctx, m.name, m.dir, true)
		if err != nil {
			return err
		}
		defer c.kill()
		rep, err := c.call(request{Op: opSearch, Text: q.text, Sites: ask.sites, Limit: b.limit})
		if err != nil {
			return err
		}
		to.open = append(to.open, opening)
		*ask.took = append(*ask.took, rep.Took)
		if err := c.stop(); err != nil {
			return err
		}
	}
	return nil
}

// warmUps is how many queries of each scope come before those that count.
const warmUps = 20

// answer puts every question to every scope of every engine.
func (b *bench) answer(ctx context.Context) error {
	children := make([]*child, len(b.engines))
	defer killAll(children)
	for i, m := range b.engines {
		var err error
		if children[i], err = b.startWarm(ctx, m, warmUps); err != nil {
			return err
		}
		m.scopes = make([]measuredScope, len(b.scopes))
	}
	for number, q := range b.questions {
		for s := range b.scopes {
			if err := b.askAll(children, number, q, s); err != nil {
				return err
			}
		}
		if (number+1)%100 == 0 {
			b.progress("  %d queries", number+1)
		}
	}
	for i, c := range children {
		rep, err := c.call(request{Op: opUsage})
		if err != nil {
			return err
		}
		b.engines[i].peak = rep.Process.Peak
		if err := c.stop(); err != nil {
			return err
		}
		children[i] = nil
	}
	return nil
}

// startWarm starts a process that has answered up to n questions in each scope
// and has nothing left to do.
func (b *bench) startWarm(ctx context.Context, m *measured, n int) (*child, error) {
	c, _, err := startOpen(ctx, m.name, m.dir, true)
	if err != nil {
		return nil, err
	}
	if err = b.askSome(c, n); err == nil {
		_, err = c.call(request{Op: opSettle, Quiet: b.quiet})
	}
	if err != nil {
		c.kill()
		return nil, err
	}
	return c, nil
}

// askSome puts up to n questions to every scope of one engine.
func (b *bench) askSome(c *child, n int) error {
	for _, s := range b.scopes {
		for _, q := range b.questions[:min(n, len(b.questions))] {
			if _, err := c.call(request{Op: opSearch, Text: q.text, Sites: s.sites(q), Limit: b.limit}); err != nil {
				return err
			}
		}
	}
	return nil
}

// askAll puts one question to every engine.
func (b *bench) askAll(children []*child, number int, q question, s int) error {
	replies := make([]reply, len(children))
	for _, i := range b.rotated(number) {
		var err error
		replies[i], err = children[i].call(request{Op: opSearch, Text: q.text, Sites: b.scopes[s].sites(q), Limit: b.limit})
		if err != nil {
			return err
		}
	}
	ours := firstTen(replies[0])
	for i := range replies {
		scope := &b.engines[i].scopes[s]
		scope.took = append(scope.took, replies[i].Took)
		scope.hits += len(replies[i].Hits)
		theirs := firstTen(replies[i])
		for _, hit := range theirs {
			if slices.Contains(ours, hit) {
				scope.overlap++
			}
		}
		scope.compared += len(theirs)
	}
	return nil
}

// firstTen identifies the first hits of an answer.
func firstTen(rep reply) []string {
	var list []string
	for _, h := range rep.Hits[:min(10, len(rep.Hits))] {
		list = append(list, h.Site+"\t"+h.URL)
	}
	return list
}

// memoryQueries is how many queries of each scope a process has answered when
// its memory is looked at.
const memoryQueries = 25

// memory looks at a process of each engine that answered some queries, alone
// and beside a second one on the same files that answered the same.
func (b *bench) memory(ctx context.Context) error {
	for _, m := range b.engines {
		if err := b.memoryOf(ctx, m); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

func (b *bench) memoryOf(ctx context.Context, m *measured) error {
	first, err := b.startWarm(ctx, m, memoryQueries)
	if err != nil {
		return err
	}
	defer first.kill()
	rep, err := first.call(request{Op: opUsage})
	if err != nil {
		return err
	}
	m.one = rep.Process
	second, err := b.startWarm(ctx, m, memoryQueries)
	if err != nil {
		b.progress("  no second process: %v", err)
		m.noSecond = err
		return nil
	}
	defer second.kill()
	for _, c := range []*child{first, second} {
		if rep, err = c.call(request{Op: opUsage}); err != nil {
			return err
		}
		m.two = m.two.plus(rep.Process)
	}
	return nil
}
