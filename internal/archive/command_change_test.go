package archive_test

import (
	"testing"

	"strandline/internal/archive"
)

func TestMayChange(t *testing.T) {
	for cmd, want := range map[string]bool{
		"grep -n Retry retry.go":                       false,
		"git diff retry.go | head -5":                  false,
		"git add retry.go && git commit -m 'retry.go'": false,
		"cat retry.go 2>/dev/null":                     false,
		"go vet ./... && sed -n 1,9p retry.go":         false,
		"git checkout main && cat retry.go":            false,
		"git checkout main -- retry.go":                true,
		"sed -i s/a/b/ retry.go":                       true,
		"rm \"pay/retry.go\"":                          true,
		"echo x > retry.go":                            true,
		"gofmt -w retry.go":                            true,
		"python3 fix.py retry.go":                      true,
		"find . -name retry.go -delete":                true,
		"FOO=1 mv retry.go old.go":                     true,
		"npx eslint --fix retry.go":                    true,
		"npx eslint retry.go":                          false,
	} {
		if got := archive.MayChange(cmd, "retry.go"); got != want {
			t.Errorf("MayChange(%q) = %v", cmd, got)
		}
	}
}
