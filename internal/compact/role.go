package compact

import (
	"strings"

	"strandline/internal/archive"
)

// Role is the kind of work that a context belongs to. It decides which sections a
// block is made of.
type Role string

// The roles. RoleNone is the block that is made of what is worth most, whatever
// it is; RoleAuto stands for the one that fits the session.
const (
	RoleNone         Role = ""
	RoleAuto         Role = "auto"
	RoleOrchestrator Role = "orchestrator"
	RoleDeveloper    Role = "developer"
	RoleSpecialist   Role = "specialist"
	RoleValidator    Role = "validator"
)

// Roles lists what ParseRole knows, for help texts.
func Roles() []Role {
	return []Role{RoleOrchestrator, RoleDeveloper, RoleSpecialist, RoleValidator, RoleAuto}
}

// ParseRole returns the role that a person typed. Any other word is an Error with
// CodeInvalid.
func ParseRole(s string) (Role, error) {
	var names []string
	for _, r := range Roles() {
		if strings.EqualFold(s, string(r)) {
			return r, nil
		}
		names = append(names, string(r))
	}
	return RoleNone, archive.Invalid("there is no role "+archive.Clip(oneLine(s), 40), "the roles are "+strings.Join(names, ", "))
}

// RoleOf returns the role of a sub-agent by what its type is called: an
// orchestrator or tech lead, a developer (backend, frontend), a specialist, and a
// validator whatever else it is.
func RoleOf(agentType string) Role {
	name := strings.ToLower(agentType)
	for _, r := range []struct {
		role  Role
		words []string
	}{
		{RoleOrchestrator, []string{"orchestrator", "tech-lead", "tech_lead", "techlead"}},
		{RoleDeveloper, []string{"developer", "backend", "frontend"}},
		{RoleSpecialist, []string{"specialist"}},
	} {
		for _, w := range r.words {
			if strings.Contains(name, w) {
				return r.role
			}
		}
	}
	return RoleValidator
}

// resolve says which role RoleAuto stands for: that of the sub-agent's type, and
// in a main session the orchestrator's if it started sub-agents, else the
// developer's.
func (r Role) resolve(p *past) Role {
	if r != RoleAuto {
		return r
	}
	if p.session.Relation == archive.RelationAgent || archive.IsAgentID(p.session.ID) {
		return RoleOf(p.session.Agent.Type)
	}
	for i := range p.calls {
		if p.calls[i].Kind == archive.CallAgent {
			return RoleOrchestrator
		}
	}
	return RoleDeveloper
}
