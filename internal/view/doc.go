// Package view is what scripts read of an archive: the JSON of the command line's
// --json and of the HTTP API, which is one and the same. Names and meanings are a
// contract; fields are added, never changed.
package view
