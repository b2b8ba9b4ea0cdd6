package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPluginIsValid: the client finds nothing wrong with the plugin's files, and the
// module's tests pass in the environment that the client gives a module.
func TestPluginIsValid(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.installPlugin()
	market := filepath.Join(s.store, "plugin")
	plugin := filepath.Join(market, "strandline")

	s.run(s.client, "plugin", "validate", "--strict", market).mustSucceed()
	s.run(s.client, "plugin", "validate", "--strict", plugin).mustSucceed()

	tests, err := os.ReadFile(filepath.Join("testdata", "register.test.ts"))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "strandline")
	if err := os.CopyFS(folder, os.DirFS(plugin)); err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(folder, "register.test.ts"), string(tests))
	s.run(s.client, "plugin", "test", folder).mustSucceed()
}
