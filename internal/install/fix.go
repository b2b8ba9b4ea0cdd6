package install

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// installed returns the options of the installation that the manifest records for the
// user's settings, for this binary.
func (c *checker) installed() Options {
	o := c.main(ScopeUser)
	m, err := readManifest(o.Home)
	if err != nil {
		return o
	}
	r, ok := m.Files[filepath.Join(o.ClientDir, "settings.json")]
	o.Plugin, o.NoStatusline = r.Entries["plugin/enabled"] != nil, ok && r.Entries["statusline"] == nil
	if o.Plugin {
		_, mcp := os.Stat(filepath.Join(pluginDir(o.Home), filepath.FromSlash(pluginMCP)))
		_, skill := os.Stat(filepath.Join(pluginDir(o.Home), filepath.FromSlash(pluginSkill)))
		_, manifest := os.Stat(filepath.Join(pluginDir(o.Home), "strandline", ".claude-plugin", "plugin.json"))
		o.NoMCP, o.NoSkill = mcp != nil && manifest == nil, skill != nil && manifest == nil
	}
	return o
}

// reinstall repeats the init of the user's settings. It is nil without one: an
// installation is the user's decision.
func (c *checker) reinstall() func() error {
	m, err := readManifest(c.opts.Home)
	if err != nil || m.Files[filepath.Join(c.opts.ClientDir, "settings.json")].AfterSHA256 == "" {
		return nil
	}
	return func() error {
		_, err := New(c.installed()).Apply(context.Background(), Plan{})
		return err
	}
}

// moveShared moves the entries of an earlier version from the settings that a project's
// users share to those of this machine.
func (c *checker) moveShared() error {
	o := c.installed()
	o.Scope = ScopeProject
	_, err := New(o).Apply(context.Background(), Plan{})
	o.Scope = ScopeShared
	if err == nil {
		_, err = New(o).Apply(context.Background(), Plan{Uninstall: true})
	}
	return err
}

// makePrivate takes other users' access from the files in Strandline's folder.
func (c *checker) makePrivate() error {
	var errs []error
	for _, path := range c.openToOthers() {
		info, err := os.Lstat(path)
		if err == nil {
			err = os.Chmod(path, info.Mode().Perm()&^0o077)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
