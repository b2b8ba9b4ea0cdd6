package claude

import (
	"fmt"
	"strings"
	"testing"

	"strandline/internal/text"
)

func TestBlocks(t *testing.T) {
	fence := text.Fence("session x", "old words")
	long := strings.Repeat("long ", 20000)
	rows := []string{
		`{"type":"user","message":{"content":"a prompt"}}`,
		`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"` + long + `"}]}}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls\npwd","timeout":5,"env":{"A":[1]}}}]}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"no"},{"type":"image","source":{"data":"AA=="}}]}]}}`,
		`{"type":"user","isCompactSummary":true,"message":{"content":"in short"}}`,
		`{"type":"user","isMeta":true,"message":{"content":"meta"}}`,
		`{"type":"system","subtype":"local_command","content":"cleared"}`,
		fmt.Sprintf(`{"type":"attachment","attachment":{"type":"hook_success","content":%q}}`, fence),
		`{"type":"queue-operation","operation":"enqueue","content":"later"}`,
		`{"type":"progress","data":{"output":"no content"}}`,
		`{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"overloaded"},{"type":"hologram"}]}}`,
		`// odd`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"/x"}},{"type":"tool_use","id":"t3","name":"Exit","input":{}}]}}`,
	}
	var got []string
	for _, b := range (&BlockReader{Owns: ownsOnly(fence)}).Blocks([]byte(strings.Join(rows, "\n")), 40) {
		body := b.Text
		if len(body) > 60 {
			body = fmt.Sprintf("%s… %d bytes", body[:10], len(body))
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s/%s %s %q%s%s", b.Line, b.Kind, b.Name, b.ToolID, body, mark(b.Error, " error"), mark(b.Own, " own"))))
	}
	want := []string{
		`40 prompt/  "a prompt"`,
		`41 thinking/  "hm"`,
		`41 reply/  "long long … 100000 bytes"`,
		`42 tool_use/Bash t1 "command:\nls\npwd\ntimeout: 5\nenv:\n{\n  \"A\": [\n    1\n  ]\n}"`,
		`43 tool_result/Bash t1 "no\n[image]" error`,
		`44 summary/  "in short"`,
		`45 system/  "meta"`,
		`46 system/local_command  "cleared"`,
		fmt.Sprintf(`47 attachment/hook_success  "%s… %d bytes" own`, fence[:10], len(fence)),
		`48 other/queue-operation  "later"`,
		`50 reply/  "overloaded" error`,
		`50 other/hologram  "[hologram]" error`,
		`51 other/malformed  "// odd"`,
		`52 tool_use/Read t2 "/x"`,
		`52 tool_use/Exit t3 "{}"`,
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("blocks:\n%s\nwant:\n%s", g, w)
	}
}

func TestBlocksEmpty(t *testing.T) {
	if got := new(BlockReader).Blocks(nil, 0); got != nil {
		t.Errorf("blocks %v", got)
	}
}
