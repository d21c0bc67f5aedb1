package goodmemtest

import "strconv"

// stream is the lines of a retrieval.
type stream struct{ b []byte }

func (o *stream) statuses(all []Status) {
	for _, st := range all {
		o.status(st)
	}
}

func (o *stream) status(st Status) {
	o.b = append(o.b, `{"status":{"code":`...)
	o.b = appendString(o.b, st.Code)
	o.b = appendString(append(o.b, `,"message":`...), st.Message)
	if len(st.Details) > 0 {
		o.b = append(o.b, `,"details":{`...)
		first := true
		for _, name := range detailOrder(st.Details) {
			if !first {
				o.b = append(o.b, ',')
			}
			first = false
			o.b = append(appendString(o.b, name), ':')
			o.b = appendString(o.b, st.Details[name])
		}
		o.b = append(o.b, '}')
	}
	o.b = append(o.b, "}}\n"...)
}

// detailOrder puts required_param in front of feature, as it was recorded, and
// sorts the others.
func detailOrder(details map[string]string) []string {
	var names []string
	if _, ok := details["required_param"]; ok {
		names = append(names, "required_param")
	}
	for _, name := range sortedNames(details) {
		if name != "required_param" {
			names = append(names, name)
		}
	}
	return names
}

// resultSet is what a stream holds between BEGIN and END.
type resultSet struct {
	id, stage            string
	hits                 []hit
	definitions, content bool
}

// resultSet writes BEGIN, the hits, each memory's definition in front of its
// first one, and END.
func (o *stream) resultSet(r *resultSet) {
	o.b = append(o.b, `{"resultSetBoundary":{"resultSetId":"`+r.id+`","kind":"BEGIN","stageName":"`+r.stage+`"`...)
	if len(r.hits) > 0 {
		o.b = append(o.b, `,"expectedItems":`...)
		o.b = strconv.AppendInt(o.b, int64(len(r.hits)), 10)
	}
	o.b = append(o.b, "}}\n"...)
	index := make(map[*memory]int)
	for _, h := range r.hits {
		m := h.chunk.memory
		if _, defined := index[m]; !defined {
			index[m] = len(index)
			if r.definitions {
				o.b = append(o.b, `{"memoryDefinition":`...)
				o.b = append(appendMemory(o.b, m, view{content: r.content}), "}\n"...)
			}
		}
		o.item(r.id, h, index[m])
	}
	o.b = append(o.b, `{"resultSetBoundary":{"resultSetId":"`+r.id+"\",\"kind\":\"END\",\"stageName\":\"\"}}\n"...)
}

func (o *stream) item(resultSetID string, h hit, memoryIndex int) {
	ch := h.chunk
	number := func(name string, n int64) {
		o.b = append(o.b, `,"`+name+`":`...)
		o.b = strconv.AppendInt(o.b, n, 10)
	}
	o.b = append(o.b, `{"retrievedItem":{"chunk":{"resultSetId":"`+resultSetID+`","chunk":{"chunkId":"`+ch.id+`","memoryId":"`+ch.memory.id+`"`...)
	number("chunkSequenceNumber", int64(ch.number))
	o.b = appendString(append(o.b, `,"chunkText":`...), ch.text)
	o.b = append(o.b, `,"vectorStatus":"COMPLETED"`...)
	number("startOffset", int64(ch.start))
	number("endOffset", int64(ch.end))
	if ch.metadata != "" {
		o.b = append(o.b, `,"metadata":`+ch.metadata...)
	}
	number("createdAt", ch.created)
	number("updatedAt", ch.memory.updated)
	o.b = append(o.b, `,"createdById":"`+ch.memory.actor+`","updatedById":"`+ch.memory.actor+`"}`...)
	number("memoryIndex", int64(memoryIndex))
	o.b = append(o.b, `,"relevanceScore":`...)
	o.b = append(appendDouble(o.b, h.score), "}}}\n"...)
}

// reply writes what an LLM made of the hits.
func (o *stream) reply(text, resultSetID string) {
	o.b = appendString(append(o.b, `{"abstractReply":{"text":`...), text)
	o.b = append(o.b, `,"relevanceScore":0.0,"resultSetId":"`+resultSetID+"\"}}\n"...)
}
