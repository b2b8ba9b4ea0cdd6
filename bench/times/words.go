package times

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// vocabulary of programming. Pairs of these words make identifiers, the
// frequent ones far more often than the rest, as in real code.
const vocabulary = `account adapter alert archive arena atlas backoff balance batch beacon binding block branch
bridge broker bucket buffer builder bundle cache cancel canvas carrier catalog channel chart checkpoint client cluster
codec column commit compactor config connection consumer context cookie counter coupon cursor daemon deadline decoder
delta deploy digest dispatch driver encoder engine envelope epoch event eviction export fallback feature field filter
fixture flag flush folder format frame gateway graph guard handler hash header heap hook import index ingest invoice
iterator job journal kernel key label latency layer layout lease ledger lexer limit listener loader lock manifest
mapper marker matrix merge metric middleware migration mirror module monitor mutex network node notifier offset order
packet page parser partition patch payload payment percentile pipeline planner plugin pointer policy pool port prefix
probe producer profile prompt proxy quantile query queue quota range ranker reader record recovery refund region
registry relay release replica report request resolver response retry rollback rotation route runtime sampler schema
scope script segment selector sequence server session shard signal snapshot socket source span stack statement store
stream subscriber suffix summary symbol sync tag target task template tenant thread throttle ticket timeout token
topic trace transaction tree trigger tunnel update upload validator vector version view volume watcher webhook widget
window worker writer zone`

// words generates prose, code and output of an invented project.
type words struct {
	rnd   *rand.Rand
	all   []string
	files []string
}

func newWords(rnd *rand.Rand, cwd string) *words {
	w := &words{rnd: rnd, all: strings.Fields(vocabulary)}
	folders := []string{"internal/%.go", "cmd/%.go", "web/src/%.ts", "scripts/%.py", "db/migrations/%.sql", "docs/%.md"}
	for range 150 {
		folder := folders[rnd.IntN(len(folders))]
		w.files = append(w.files, cwd+"/"+strings.Replace(folder, "%", w.plain()+"/"+w.plain()+"_"+w.plain(), 1))
	}
	return w
}

func (w *words) plain() string { return w.all[w.rnd.IntN(len(w.all))] }

// word is a plain word or, in three of ten cases, an identifier. The skew of the
// square root makes a few identifiers common and most rare.
func (w *words) word() string {
	if w.rnd.IntN(10) < 7 {
		return w.plain()
	}
	f := w.rnd.Float64()
	n := int(f * f * f * float64(len(w.all)*len(w.all)))
	a, b := w.all[n*7919%len(w.all)], w.all[n/len(w.all)]
	return a + strings.ToUpper(b[:1]) + b[1:]
}

func (w *words) sentence(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.word())
	}
	s := b.String()
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

func (w *words) paragraph(sentences int) string {
	var b strings.Builder
	for i := range sentences {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.sentence(6 + w.rnd.IntN(12)))
	}
	return b.String()
}

func (w *words) prompt() string {
	verbs := []string{"Fix", "Add", "Remove", "Measure", "Explain", "Rename", "Split", "Test", "Review", "Port"}
	return verbs[w.rnd.IntN(len(verbs))] + " the " + w.plain() + " " + w.plain() + " in " + w.file() + ". " + w.paragraph(1+w.rnd.IntN(5))
}

func (w *words) file() string { return w.files[w.rnd.IntN(len(w.files))] }

func (w *words) command() string {
	commands := []string{"go test ./...", "make build", "npm test --", "git diff --stat", "git log --oneline -20", "rg -n", "docker compose logs"}
	return commands[w.rnd.IntN(len(commands))] + " " + w.plain()
}

func (w *words) code(lines int) string {
	var b strings.Builder
	for i := range lines {
		b.WriteString(strconv.Itoa(i + 1))
		b.WriteByte('\t')
		switch w.rnd.IntN(6) {
		case 0:
			b.WriteString("func (" + w.plain()[:1] + " *" + w.word() + ") " + w.word() + "(ctx context.Context, " + w.plain() + " string) error {")
		case 1:
			b.WriteString("\tif err := " + w.plain() + "." + w.word() + "(ctx, " + w.plain() + "); err != nil {")
		case 2:
			b.WriteString("\t\treturn fmt.Errorf(\"" + w.plain() + " " + w.plain() + ": %w\", err)")
		case 3:
			b.WriteString("\t" + w.word() + " := make([]" + w.word() + ", 0, " + strconv.Itoa(w.rnd.IntN(512)) + ")")
		case 4:
			b.WriteString("\t// " + w.sentence(9))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (w *words) output(lines int) string {
	var b strings.Builder
	for range lines {
		switch w.rnd.IntN(4) {
		case 0:
			b.WriteString("ok  \texample.com/" + w.plain() + "/" + w.plain() + "\t0." + strconv.Itoa(w.rnd.IntN(1000)) + "s")
		case 1:
			b.WriteString("--- FAIL: Test" + w.word() + " (0.0" + strconv.Itoa(w.rnd.IntN(9)) + "s)")
		case 2:
			b.WriteString("    " + w.file() + ":" + strconv.Itoa(w.rnd.IntN(900)) + ": " + w.sentence(7))
		default:
			b.WriteString("-rw-r--r-- 1 dev dev " + strconv.Itoa(w.rnd.IntN(99999)) + " " + w.plain() + ".go")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (w *words) matches(lines int) string {
	var b strings.Builder
	for range lines {
		b.WriteString(w.file() + ":" + strconv.Itoa(w.rnd.IntN(900)) + ":" + w.sentence(9) + "\n")
	}
	return b.String()
}
