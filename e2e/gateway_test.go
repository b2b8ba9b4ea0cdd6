package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
)

const longPrompt = "Count a few times."

// behindGateway starts a gateway with these settings for the client.
func behindGateway(t *testing.T, settings string) (*sandbox, string) {
	t.Helper()
	s := newSandbox(t)
	s.write(filepath.Join(s.home, ".config", "strandline", "config.toml"), "[gateway]\n"+settings)
	s.install()
	s.wrapper = []string{s.program, "run", "--"}
	s.scriptStory()
	id := newSession(t)
	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()
	return s, id
}

// counting is a tool loop of n large outputs.
func counting(n int) (replies []mockapi.Reply) {
	for i := range n {
		replies = append(replies, mockapi.Use(mockapi.Bash(fmt.Sprintf("echo run %d; seq %d00000 %d01200", i, i+1, i+1))))
	}
	return append(replies, mockapi.Say("Counted."))
}

// TestOldResultsAreShortened runs a long tool loop through the gateway. Shortened
// results can be recalled, the latest ones are complete, and requests share one
// growing prefix except for a few prune points.
func TestOldResultsAreShortened(t *testing.T) {
	t.Parallel()
	const loops = 24
	s, id := behindGateway(t, "prune_at = 30000\n[hook]\npost_tool_interval = \"0s\"\n")
	s.api.On(longPrompt, counting(loops)...)

	long := s.resume(id, longPrompt).mustAnswer("Counted.").undisturbed()

	last := long.requests[len(long.requests)-1]
	left := regexp.MustCompile(`(?s)run (\d+).{0,200}?were omitted.{0,80}?recall ([0-9a-f]{8}/\d+\.\d+)\]`).FindAllStringSubmatch(last.Text(), -1)
	if len(left) < loops/3 || len(left) > loops-4 {
		t.Fatalf("%d of %d results were omitted", len(left), loops)
	}
	for _, found := range left {
		if out := s.strandline("show", found[2]).mustSucceed().stdout; !strings.Contains(out, "run "+found[1]+"\n") {
			t.Errorf("%s does not give back run %s:\n%.500s", found[2], found[1], out)
		}
	}
	if text := last.Text(); !strings.Contains(text, fmt.Sprintf("%d01200", loops)) || strings.Contains(text, "1000700\n") {
		t.Error("the newest result is not whole, or the oldest is")
	}
	if cuts := rewrites(t, long.requests); cuts == 0 || cuts > 6 {
		t.Errorf("%d of %d requests do not extend the previous one", cuts, len(long.requests))
	}
	s.checkExported()
	s.checkLog()
}

// TestOldResultsAreShortenedWithoutHooks is a client behind a gateway and nothing else: the
// gateway captures the session.
func TestOldResultsAreShortenedWithoutHooks(t *testing.T) {
	t.Parallel()
	const loops = 16
	s := newSandbox(t)
	s.program = filepath.Join(filepath.Dir(s.project), "bin", programName)
	link(t, program(t), s.program)
	t.Cleanup(s.awaitProcesses)
	s.write(filepath.Join(s.home, ".config", "strandline", "config.toml"), "[gateway]\nprune_at = 20000\n")
	s.wrapper = []string{s.program, "run", "--"}
	s.api.On(longPrompt, counting(loops)...)

	long := s.start(newSession(t), longPrompt).mustAnswer("Counted.")

	last := long.requests[len(long.requests)-1]
	left := regexp.MustCompile(`(?s)run (\d+).{0,200}?were omitted.{0,80}?recall ([0-9a-f]{8}/\d+\.\d+)\]`).FindAllStringSubmatch(last.Text(), -1)
	if len(left) < loops/3 {
		t.Fatalf("%d of %d results were omitted", len(left), loops)
	}
	if out := s.strandline("show", left[0][2]).mustSucceed().stdout; !strings.Contains(out, "run "+left[0][1]+"\n") {
		t.Errorf("%s does not give back run %s:\n%.500s", left[0][2], left[0][1], out)
	}
	checkPairs(t, last)
	t.Logf("%d of %d requests do not extend the previous one", rewrites(t, long.requests), len(long.requests))
	s.checkLog()
}

// rewrites counts the requests whose conversation does not extend the previous one.
func rewrites(t *testing.T, requests []*mockapi.Request) (n int) {
	t.Helper()
	mark := regexp.MustCompile(`,?"cache_control":\{[^}]*\}`)
	// A text with a cache marker is a list of one.
	one := regexp.MustCompile(`"content":\[\{"type":"text","text":("(?:[^"\\]|\\.)*")\}\]`)
	var before []string
	for _, r := range requests {
		var body struct {
			Messages []json.RawMessage `json:"messages"`
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			t.Fatal(err)
		}
		var now []string
		for _, m := range body.Messages {
			now = append(now, one.ReplaceAllString(mark.ReplaceAllString(string(m), ""), `"content":$1`))
		}
		for i := range min(len(before), len(now)) {
			if before[i] != now[i] {
				n++
				break
			}
		}
		before = now
	}
	return n
}

// TestTheGatewayCompacts compacts automatically and by hand. The model is not asked,
// nothing is repeated, and the session continues in another process.
func TestTheGatewayCompacts(t *testing.T) {
	t.Parallel()
	s, id := behindGateway(t, "prune_at = 0\n")

	loop := s.resume(id, loopPrompt).mustAnswer("All done.").undisturbed()
	if got := strings.Join(loop.compactions(), " "); got != "auto" {
		t.Fatalf("compactions of the tool loop: %q, want auto", got)
	}
	s.resume(id, rulePrompt).mustAnswer("Understood.").undisturbed()
	s.resume(id, "/compact mind the tides").mustSucceed()
	next := s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()

	s.uncompacted()
	req := next.request(mockapi.Turn, 0)
	blocks, _ := records(req.Text())
	if len(blocks) != 2 || !strings.Contains(blocks[0], portFact) || !strings.Contains(blocks[0], "/compact instructions\n- mind the tides\n##") || !strings.Contains(blocks[1], tableFact) {
		t.Errorf("%d blocks of ours in the request after both compactions, want a record and the last messages:\n%s", len(blocks), strings.Join(blocks, "\n=====\n"))
	}
	if rows := s.listed(); len(rows) != 2 || !rows[0].Ours || !rows[0].Given || !rows[1].Ours || !rows[1].Given {
		t.Errorf("compactions: %+v", rows)
	}
	checkPairs(t, req)
	s.checkExported()
	s.checkLog()
}

// TestAGatewayThatLeavesCompactionsAlone forwards summary requests to the model.
func TestAGatewayThatLeavesCompactionsAlone(t *testing.T) {
	t.Parallel()
	s, id := behindGateway(t, "compact = false\n")

	s.resume(id, "/compact").mustSucceed()

	next := s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()
	if !strings.Contains(next.request(mockapi.Turn, 0).Text(), "A gauge was checked.") {
		t.Error("the model's summary is not in the request after the compaction")
	}
}
