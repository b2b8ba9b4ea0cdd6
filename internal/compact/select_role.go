package compact

import (
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Role is the kind of work that a context is used for. It sets the order of the
// sections in a restored context and how much each section counts.
type Role string

// The roles. RoleNone applies the default order and equal weights; RoleAuto is
// replaced by the role that fits the session.
const (
	RoleNone         Role = ""
	RoleAuto         Role = "auto"
	RoleOrchestrator Role = "orchestrator"
	RoleDeveloper    Role = "developer"
	RoleSpecialist   Role = "specialist"
	RoleValidator    Role = "validator"
)

// Roles returns the roles that ParseRole accepts.
func Roles() []Role {
	return []Role{RoleOrchestrator, RoleDeveloper, RoleSpecialist, RoleValidator, RoleAuto}
}

// ParseRole parses a role name, ignoring case. An unknown name is an Error with
// CodeInvalid.
func ParseRole(s string) (Role, error) {
	var names []string
	for _, r := range Roles() {
		if strings.EqualFold(s, string(r)) {
			return r, nil
		}
		names = append(names, string(r))
	}
	return RoleNone, archive.Invalid("there is no role "+archive.Clip(text.CleanLine(s), 40), "the roles are "+strings.Join(names, ", "))
}

// RoleOf returns the role for a sub-agent type, RoleNone for an unknown type.
func RoleOf(agentType string) Role {
	name := strings.ToLower(agentType)
	for _, r := range []struct {
		role  Role
		words []string
	}{
		{RoleOrchestrator, []string{"orchestrator", "tech-lead", "tech_lead", "techlead"}},
		{RoleDeveloper, []string{"developer", "backend", "frontend"}},
		{RoleSpecialist, []string{"specialist"}},
		{RoleValidator, []string{"validator"}},
	} {
		if slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(name, w) }) {
			return r.role
		}
	}
	return RoleNone
}

// resolve replaces RoleAuto: in a sub-agent's session by the role of its type, in
// a main session by RoleOrchestrator if it started sub-agents, else by
// RoleDeveloper.
func (r Role) resolve(p *past) Role {
	switch {
	case r != RoleAuto:
		return r
	case p.session.Relation == archive.RelationAgent || archive.IsAgentID(p.session.ID):
		return RoleOf(p.session.Agent.Type)
	case slices.ContainsFunc(p.calls, func(c archive.Call) bool { return c.Kind == archive.CallAgent }):
		return RoleOrchestrator
	}
	return RoleDeveloper
}

// layout is the order in which a restored context prints its sections, and the
// weight of each: a factor of the values of its entries and lines.
type layout []struct {
	section int
	weight  float64
}

// layout returns the layout of a role. The weights stay close to 1, because each
// character that is spent on a section is missing elsewhere.
func (r Role) layout() layout {
	switch r {
	case RoleOrchestrator:
		return layout{{secOrders, 1}, {secState, 1}, {secTurns, 1}, {secTasks, 1.5}, {secReported, 1}, {secReads, 1.2}, {secErrors, 1}, {secFiles, 0.8}, {secCommands, 0.8}, {secSummary, 1}, {secNames, 1}, {secSegments, 1}, {secChanges, 1}}
	case RoleDeveloper:
		return layout{{secOrders, 1}, {secState, 1}, {secTurns, 1}, {secFiles, 1.3}, {secErrors, 1.2}, {secCommands, 1}, {secTasks, 1}, {secReported, 1}, {secReads, 1}, {secSummary, 1}, {secNames, 1}, {secSegments, 1}, {secChanges, 1}}
	case RoleSpecialist:
		return layout{{secOrders, 1}, {secState, 1}, {secTurns, 1}, {secReads, 1.2}, {secErrors, 1}, {secCommands, 1}, {secFiles, 0.8}, {secTasks, 0.8}, {secReported, 1}, {secSummary, 1}, {secNames, 1}, {secSegments, 1}, {secChanges, 1}}
	case RoleValidator:
		return layout{{secOrders, 1}, {secState, 1}, {secErrors, 1.4}, {secCommands, 1.4}, {secTurns, 1}, {secFiles, 1.2}, {secTasks, 1}, {secReported, 1}, {secReads, 0.8}, {secSummary, 1}, {secNames, 1}, {secSegments, 1}, {secChanges, 1}}
	}
	return layout{{secOrders, 1}, {secState, 1}, {secTasks, 1}, {secReported, 1}, {secErrors, 1}, {secTurns, 1}, {secFiles, 1}, {secCommands, 1}, {secReads, 1}, {secSummary, 1}, {secNames, 1}, {secSegments, 1}, {secChanges, 1}}
}

// apply sets the print order of entries and scales their values.
func (l layout) apply(entries []*entry) {
	var rank [sections]int
	var weight [sections]float64
	for i, s := range l {
		rank[s.section], weight[s.section] = i, s.weight
	}
	for _, e := range entries {
		w := weight[e.section]
		e.rank = rank[e.section]
		e.prior *= w
		for _, l := range e.lines {
			l.prior *= w
			l.factor *= w
		}
	}
}
