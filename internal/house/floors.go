package house

import (
	"slices"
	"strings"
)

// Module is the path that all packages of ours start with.
const Module = "strandline"

// Floor is one level of the house. A package may import packages of the floors
// that its own floor lists in May, and nothing else of ours.
type Floor struct {
	Name     string
	Knows    string   // one sentence for the picture
	Packages []string // without the module's name; sub-packages belong to them
	May      []string // names of floors
}

// Floors lists the floors from the door down, then what stands beside them.
func Floors() []Floor {
	return []Floor{
		{
			Name: "door", Knows: "wiring only; hooks leave before anything else is built",
			Packages: []string{"cmd/strandline", "cmd/strandline-onnx"},
			May:      []string{"faces", "work", "tools", "ground", "stores"},
		},
		{
			Name: "faces", Knows: "one outside protocol each; no SQL, no ranking",
			Packages: []string{"internal/browse", "internal/cli", "internal/demo", "internal/gateway", "internal/hook", "internal/httpapi", "internal/install", "internal/mcpserver", "internal/statusline", "internal/view"},
			May:      []string{"faces", "work", "tools", "ground"},
		},
		{
			Name: "work", Knows: "what Strandline does, in terms of the domain and of small interfaces",
			Packages: []string{"internal/autopilot", "internal/blocking", "internal/capture", "internal/compact", "internal/lifecycle", "internal/recall", "internal/team", "internal/unasked", "internal/snapshot", "internal/task", "internal/logread"},
			// Capture is the lowest of them: who tends the archive calls it.
			May: []string{"work:capture", "tools", "ground"},
		},
		{
			Name: "tools", Knows: "one craft each, nothing of each other's purpose",
			Packages: []string{
				"internal/atomicfile", "internal/brief", "internal/confidence", "internal/config", "internal/embed", "internal/gauge", "internal/gitstat",
				"internal/jsonwalk", "internal/lockfile", "internal/logfile", "internal/model",
				"internal/project", "internal/redact", "internal/screen", "internal/sessionlog", "internal/terms", "internal/transcript",
				"internal/vector", "internal/window",
			},
			May: []string{"tools", "ground"},
		},
		{
			Name: "ground", Knows: "the domain; no input or output, imports nothing of ours",
			Packages: []string{"internal/archive"},
		},
		{
			Name: "stores", Knows: "adapters named for the database they wrap; one conformance suite over all",
			Packages: []string{"internal/store"},
			May:      []string{"stores", "ground", "tools:terms"},
		},
		{
			Name: "outside", Knows: "not linked into the program: rules, measurements, whole-system tests",
			Packages: []string{
				"bench", "internal/bench", "internal/demo/story", "internal/e2e", "internal/foresight", "internal/eval", "internal/house",
				"internal/synth",
			},
			May: []string{"outside", "door", "faces", "work", "tools", "ground", "stores"},
		},
	}
}

// FloorOf returns the floor that a package stands on. The path may carry the
// module's name. It returns false for a package that no floor lists.
func FloorOf(path string) (Floor, bool) {
	path = strings.TrimPrefix(path, Module+"/")
	var found Floor
	longest := ""
	for _, f := range Floors() {
		for _, p := range f.Packages {
			if (path == p || strings.HasPrefix(path, p+"/")) && len(p) > len(longest) {
				found, longest = f, p
			}
		}
	}
	return found, longest != ""
}

// MayImport reports whether package from may import package to. Both are
// packages of ours that stand on a floor.
func MayImport(from, to string) bool {
	f, ok := FloorOf(from)
	if !ok {
		return false
	}
	g, ok := FloorOf(to)
	if !ok {
		return false
	}
	// "floor:package" opens one package of a floor.
	_, name, _ := strings.Cut(strings.TrimPrefix(to, Module+"/"), "internal/")
	return slices.Contains(f.May, g.Name) || slices.Contains(f.May, g.Name+":"+name)
}
