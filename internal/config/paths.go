package config

// Paths are the places on disk.
type Paths struct {
	Home       string // the archive
	ConfigDir  string // settings and the redaction key
	ClientDir  string // the client's own folder
	ConfigFile string // the user's settings file
}
