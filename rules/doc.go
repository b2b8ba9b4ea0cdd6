// Package rules holds the tests that check the repository itself: imports
// between packages, linked modules, file lengths, package comments and settings.
package rules
