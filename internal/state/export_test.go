package state

// Close closes the file if it was opened.
func (w *LogFile) Close() error {
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}
