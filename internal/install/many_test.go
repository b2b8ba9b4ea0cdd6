package install

import (
	"runtime"
	"strings"
	"testing"
)

// The work to remove thousands of older hooks grows with their number, not its square.
func TestManyOlderHooks(t *testing.T) {
	w := newWorld(t)
	const hook = `{"matcher": "", "hooks": [{"type": "command", "command": "/old/bin/strandline hook", "timeout": 10}]}`
	w.file(`{"hooks": {"Stop": [`+strings.Repeat(hook+",\n", 3999)+hook+"]}}\n", w.settings())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w.init(ScopeUser, "/new/bin/strandline")
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 400 {
		t.Errorf("%d MB were allocated", n)
	}
}
