package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/config"
)

// The paths are distinct and inside the archive.
func TestArchivePaths(t *testing.T) {
	p := config.Paths{Home: filepath.Join("an", "archive")}
	seen := map[string]bool{}
	for _, place := range []string{
		p.Index(), p.Journal(), p.Vectors(), p.Models(), p.Learned(), p.Errors(),
		p.State(), p.Pending(), p.OwnCompactions(), p.PendingCompactions(), p.Blocked(), p.Outcomes(), p.CheckStates(), p.Maintained(),
	} {
		if seen[place] || !strings.HasPrefix(place, p.Home+string(filepath.Separator)) {
			t.Errorf("%s is used twice or outside %s", place, p.Home)
		}
		seen[place] = true
	}
}

// A rejected value leaves the next source in force.
func TestRejectedNumberChangesNothing(t *testing.T) {
	for _, value := range []string{"0.3", "-1", "1.5", "NaN", "half", ""} {
		env := map[string]string{"STRANDLINE_AUTOPILOT_COMPACT_EARLY": value}
		cfg, err := config.Load(config.Inputs{Env: func(k string) string { return env[k] }, Home: "/h"})
		if cfg.Autopilot.CompactEarly != 0 || (err == nil) != (value == "") {
			t.Errorf("%q: %v in force, error %v", value, cfg.Autopilot.CompactEarly, err)
		}
	}
}
