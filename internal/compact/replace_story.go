package compact

import (
	"strings"

	"strandline/internal/transcript"
)

// said is a text with the place that holds it.
type said struct {
	handle, text string
}

// story is what a conversation comes to: what was asked, said and done, oldest
// first.
type story struct {
	prompts []said
	replies []said
	done    []said
	carried []said // files as a record before told them
	files   files
}

// readStory goes through the messages in front of the ones that stand as they
// are; what files hold is followed to the end of these.
func readStory(req ReplaceRequest, index *index, from int) *story {
	st := &story{files: files{at: map[string]*file{}}}
	results := map[string]*transcript.ToolResult{}
	for i := range req.Messages {
		for j := range req.Messages[i].Results {
			r := &req.Messages[i].Results[j]
			results[r.ID] = r
		}
	}
	for i := range req.Messages {
		m := &req.Messages[i]
		kept := i >= from
		switch {
		case isOwn(m.Text):
			st.take(readOwn(m.Text))
			continue
		case m.Summary:
			st.replies = append(st.replies, said{text: "Summary of an earlier compaction:\n" + req.Redact(clean(m.Text))})
			continue
		case m.Prompt != "":
			st.prompts = append(st.prompts, said{text: req.Redact(clean(m.Prompt))})
		case m.Role == "assistant" && !kept && strings.TrimSpace(m.Text) != "":
			text := req.Redact(clean(m.Text))
			st.replies = append(st.replies, said{handle: index.reply(text), text: text})
		}
		for j := range m.Uses {
			u := &m.Uses[j]
			handle := ""
			if ref, ok := index.calls[u.ID]; ok {
				handle = ref.Handle()
			}
			st.files.see(u, results[u.ID], handle, kept)
			if !kept {
				st.done = append(st.done, said{handle: handle, text: req.Redact(oneLine(index.short(doing(u, results[u.ID]))))})
			}
		}
	}
	st.placePrompts(index)
	return st
}

// take begins with what an earlier record told.
func (st *story) take(own story) {
	st.prompts = append(st.prompts, own.prompts...)
	st.replies = append(st.replies, own.replies...)
	st.done = append(st.done, own.done...)
	for _, f := range own.carried {
		st.files.carry(f)
	}
}

// placePrompts gives prompts their handles, and puts those that only the archive
// knows in front: they went down with an earlier compaction.
func (st *story) placePrompts(index *index) {
	at := map[string][]int{} // places in the archive by text, oldest first
	known := map[string]int{}
	for i, p := range index.prompts {
		k := spokenKey(p.text)
		at[k] = append(at[k], i)
		known[p.handle] = i
	}
	told := make([]bool, len(index.prompts))
	var late []said
	for i := len(st.prompts) - 1; i >= 0; i-- {
		p := st.prompts[i]
		j, ok := known[p.handle]
		if places := at[spokenKey(p.text)]; !ok && len(places) > 0 {
			j, ok = places[len(places)-1], true
			at[spokenKey(p.text)] = places[:len(places)-1]
		}
		if ok {
			told[j] = true
			continue
		}
		late = append(late, p)
	}
	if len(index.prompts) == 0 {
		return
	}
	st.prompts = append([]said(nil), index.prompts...)
	for i := len(late) - 1; i >= 0; i-- {
		if late[i].handle == "" { // newer than the archive
			st.prompts = append(st.prompts, late[i])
		} else {
			st.prompts = append([]said{late[i]}, st.prompts...)
		}
	}
}

// dropKept takes away the prompts that stand as they are.
func (st *story) dropKept(req ReplaceRequest, keep []int) {
	for k := len(keep) - 1; k >= 0; k-- {
		m := &req.Messages[keep[k]]
		if m.Prompt == "" {
			continue
		}
		key := spokenKey(req.Redact(clean(m.Prompt)))
		for i := len(st.prompts) - 1; i >= 0; i-- {
			if spokenKey(st.prompts[i].text) == key {
				st.prompts = append(st.prompts[:i:i], st.prompts[i+1:]...)
				break
			}
		}
	}
}

// reply is the handle of a text of the model, "" if it is not known.
func (x *index) reply(text string) string {
	if ref, ok := x.replies[spokenKey(text)]; ok {
		return ref.Handle()
	}
	return ""
}

// short takes the session's folder off paths.
func (x *index) short(s string) string {
	if x.past == nil || len(x.past.session.Cwd) <= 3 {
		return s
	}
	return strings.ReplaceAll(s, x.past.session.Cwd+"/", "")
}
