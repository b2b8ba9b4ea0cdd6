// Package vector finds the passages whose vectors lie nearest to a query's. The
// vectors stand in the store; beside it, for each embedder, lies one flat file
// that is derived from them, mapped into memory and scanned. Package embed makes
// the vectors.
package embed
