package e2e

// saboteurMain stands in for strandline where a test wants it to die midway.
func saboteurMain() int { return 0 }
