package capture_test

import "strandline/internal/index/sqlite"

// storeType is the store that these tests index into.
type storeType = *sqlite.Store
