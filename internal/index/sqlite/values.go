package sqlite

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
