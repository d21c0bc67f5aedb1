package embedded

import "slices"

// addSegment writes the segment of a body and returns its number.
func (w *write) addSegment(site int64, body []byte) (id int64, err error) {
	seg, err := parseSegment(body)
	if err != nil {
		return 0, err
	}
	raw := seal(body)
	row := segmentRow{documents: int64(seg.docs), bytes: int64(len(raw)), format: segmentFormat}
	r, err := w.exec("INSERT INTO segment (site, documents, bytes, format, crc) VALUES (?, ?, ?, ?, ?)",
		site, row.documents, row.bytes, row.format, row.sum(site))
	if err != nil {
		return 0, err
	}
	id, err = r.LastInsertId()
	if err != nil {
		return 0, err
	}
	part := 0
	for chunk := range slices.Chunk(raw, chunkBytes) {
		if _, err := w.exec("INSERT INTO chunk (segment, part, data) VALUES (?, ?, ?)", id, part, chunk); err != nil {
			return 0, err
		}
		part++
	}
	return id, nil
}

// markDead writes which documents of a segment are dead.
func (w *write) markDead(site int64, row segmentRow) error {
	_, err := w.exec("UPDATE segment SET dead = ?, crc = ? WHERE id = ?", []byte(row.dead), row.sum(site), row.id)
	return err
}

// dropSegments removes the index of a site.
func (w *write) dropSegments(site siteRow) error {
	for _, query := range []string{
		"DELETE FROM chunk WHERE segment IN (SELECT id FROM segment WHERE site = ?)",
		"DELETE FROM segment WHERE site = ?",
	} {
		if _, err := w.tx.exec(w.ctx, query, site.id); err != nil {
			return err
		}
	}
	return nil
}

func (w *write) dropSegment(id int64) error {
	for _, query := range []string{"DELETE FROM chunk WHERE segment = ?", "DELETE FROM segment WHERE id = ?"} {
		if _, err := w.exec(query, id); err != nil {
			return err
		}
	}
	return nil
}
