// Package e2e drives the real client against a stand-in for its API, with
// strandline installed as a user would install it, and holds what the client
// wrote, sent and reported against what strandline promised. It has tests only.
//
// The client is the program that STRANDLINE_CLIENT names, else the one that
// scripts/install-client.sh installs into .cache. Without it the tests are
// skipped with a printed reason, unless STRANDLINE_E2E=1 or (on Linux) CI=true
// demand them: then they fail. Once the client is installed, nothing but the
// loopback interface is spoken to, and every home, project and archive is a
// temporary folder.
package e2e
