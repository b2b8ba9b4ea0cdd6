package capture_test

import "strandline/internal/index/sqlite"

// storeType is the store of these tests.
type storeType = *sqlite.Store
