// Package mockapi is a stand-in for the Messages API on the loopback interface,
// made for driving the real client in tests: it answers from a script, says what
// usage the test wants said, and keeps every request for the test to look at.
//
// A script is a set of rules. A rule starts when its prompt arrives, and goes on
// with the results of the tools that it called itself, so it does not matter how
// the client has rearranged, compacted or resumed the conversation between.
// Requests that no rule answers fail the test.
package mockapi
