// Package e2e drives the real client against an imitation of its API, with
// strandline installed as by a user, and checks transcripts, requests and reports
// of the client. It contains only tests.
//
// The client is the program that STRANDLINE_CLIENT names, else the one that
// scripts/install-client.sh installs into .cache. Without it the tests are
// skipped with a printed reason, unless STRANDLINE_E2E=1 or (on Linux) CI=true
// demand them: then they fail. Once the client is installed, only the
// loopback interface is used, and every home, project and archive is a
// temporary folder.
package e2e
