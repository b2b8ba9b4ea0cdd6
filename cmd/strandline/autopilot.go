package main

import (
	"os"

	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/hook"
	"strandline/internal/task"
	"strandline/internal/transcript/claude"
	"strandline/internal/usage"
)

func gauges(cfg *config.Config) usage.Store {
	return usage.Store{Dir: cfg.Paths.State()}
}

// newPilot wires the autopilot; nil where it is switched off.
func newPilot(cfg *config.Config) *usage.Monitor {
	if !cfg.Autopilot.Enabled || cfg.Paths.Home == "" {
		return nil
	}
	return &usage.Monitor{
		Store: gauges(cfg), Zones: zones(cfg), Window: cfg.Autopilot.Window,
		Always: cfg.Autopilot.Report == config.ReportAlways, Silent: cfg.Autopilot.Report == config.ReportOff,
		Getenv: os.Getenv, Conversation: claude.Conversation,
	}
}

func zones(cfg *config.Config) usage.Zones {
	return usage.Zones{Warn: cfg.Autopilot.Warn, Prune: cfg.Autopilot.Prune}
}

// injectors returns the enabled injectors in the order of their texts.
func injectors(cfg *config.Config, c *capture.Capture, pilot *usage.Monitor) []hook.Injector {
	var list []hook.Injector
	if cfg.Recall.Unasked {
		list = append(list, hook.Recall(c.Project, redactor(cfg)))
	}
	if pilot != nil {
		list = append(list, hook.UsageReport(*pilot))
	}
	if !cfg.Segments.Disabled {
		list = append(list, hook.Reminder(marks(cfg)))
	}
	return list
}

func marks(cfg *config.Config) task.CheckStates {
	return task.CheckStates{Dir: cfg.Paths.Marks()}
}
