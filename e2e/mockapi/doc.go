// Package mockapi imitates the Messages API and the Responses API on the loopback
// interface, so that tests can drive the real clients. It answers from a script with
// the usage that the test sets, and records every request.
//
// A script is a set of rules. A rule starts when its prompt arrives and continues
// with the results of the tools that it called itself, so it does not matter how
// the client has rearranged, compacted or resumed the conversation between.
// Requests that no rule answers fail the test.
package mockapi
