// Package house knows the rules of this repository: which packages stand on
// which floor, what may import what, and what every file has to look like. Its
// tests hold the code to them and draw the picture in ARCHITECTURE.md:
//
//	go test ./internal/house -update
//
// The linter enforces the same floors while a file is written (see depguard in
// .golangci.yml); this package also notices what a linter cannot: a package that
// stands on no floor, a picture that no longer shows the house.
package house
