// Package autopilot knows how full a session's context window is, how fast it
// fills, and what happens next.
//
// The tokens in the window are input, cache_read and cache_creation of the main
// chain's last response, counted once per response, as the client counts them
// itself. Where no response has counted yet they are estimated, one token for 3.5
// characters, and marked. The window is what the client told the statusline, else
// the model's, else what the settings say, else what was seen.
//
// Nothing here opens the index or sets a knob of the client: what a hook has just
// indexed is watched as it goes by, and the figures lie in a small file (package
// gauge) for the statusline and the next prompt.
package usage
