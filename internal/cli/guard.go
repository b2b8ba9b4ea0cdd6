package cli

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
)

// unitKinds are the service managers that --print-unit writes for.
const (
	systemdUnit = "systemd"
	launchdUnit = "launchd"
)

func (a *commands) guardCommand(cmd *cobra.Command) {
	unit := cmd.Flags().String("print-unit", "", "print a user service for `systemd or launchd` and exit")
	own := systemdUnit
	if runtime.GOOS == "darwin" {
		own = launchdUnit
	}
	cmd.Flags().Lookup("print-unit").NoOptDefVal = own
	guard := a.linked(func(ctx context.Context, _ []string) error {
		return a.env.Frontends.Guard(ctx, func(line string) { fmt.Fprintln(a.out, line) })
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch *unit {
		case "":
			return guard(cmd, args)
		case systemdUnit, launchdUnit:
			return a.printUnit(*unit)
		}
		return wrongUsage(fmt.Sprintf("no unit for %q", *unit), "write --print-unit=systemd or --print-unit=launchd")
	}
}

// printUnit prints a user service that runs the guard.
func (a *commands) printUnit(kind string) error {
	exe := a.app.Exe
	var env [][2]string
	for _, name := range []string{"STRANDLINE_HOME", "CLAUDE_CONFIG_DIR"} {
		if value := a.app.Getenv(name); value != "" {
			env = append(env, [2]string{name, value})
		}
	}
	for _, value := range append(env, [2]string{"", exe}) {
		if strings.ContainsAny(value[1], "\"\\\n%$<>&") {
			return archive.Invalid(fmt.Sprintf("a service cannot hold the path %q", value[1]), "use a path without special characters")
		}
	}
	if kind == launchdUnit {
		return a.printLaunchd(exe, env)
	}
	fmt.Fprintf(a.out, `# Save as ~/.config/systemd/user/strandline-guard.service, then:
# systemctl --user enable --now strandline-guard
[Unit]
Description=Archive the sessions of coding agents as they are written

[Service]
ExecStart="%s" guard
`, exe)
	for _, e := range env {
		fmt.Fprintf(a.out, "Environment=\"%s=%s\"\n", e[0], e[1])
	}
	return a.println(`Restart=on-failure
RestartSec=30
Nice=10

[Install]
WantedBy=default.target`)
}

func (a *commands) printLaunchd(exe string, env [][2]string) error {
	fmt.Fprintf(a.out, `<?xml version="1.0" encoding="UTF-8"?>
<!-- Save as ~/Library/LaunchAgents/strandline.guard.plist, then:
     launchctl bootstrap gui/$UID ~/Library/LaunchAgents/strandline.guard.plist -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>strandline.guard</string>
  <key>ProgramArguments</key><array><string>%s</string><string>guard</string></array>
`, exe)
	if len(env) > 0 {
		fmt.Fprintln(a.out, "  <key>EnvironmentVariables</key>\n  <dict>")
		for _, e := range env {
			fmt.Fprintf(a.out, "    <key>%s</key><string>%s</string>\n", e[0], e[1])
		}
		fmt.Fprintln(a.out, "  </dict>")
	}
	return a.println(`  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ProcessType</key><string>Background</string>
</dict>
</plist>`)
}
