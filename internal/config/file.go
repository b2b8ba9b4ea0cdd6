package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/BurntSushi/toml"
)

// MaxFile is the size limit of a settings file in bytes.
const MaxFile = 64 << 10

// readRegular reads a regular file of at most MaxFile bytes. A repository may hold
// a device or an endless file under a settings file's name.
func readRegular(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = fmt.Errorf("it is larger than %d KB", MaxFile>>10)
	}
	return data, err
}

// parseTOML returns the values of a settings file as text, by section.key.
func parseTOML(data []byte) (map[string]string, error) {
	var tree map[string]any
	if err := toml.Unmarshal(data, &tree); err != nil {
		return nil, err
	}
	values := map[string]string{}
	flatten(values, "", tree)
	return values, nil
}

func flatten(values map[string]string, prefix string, tree map[string]any) {
	for name, v := range tree {
		switch v := v.(type) {
		case map[string]any:
			flatten(values, prefix+name+".", v)
		case string:
			values[prefix+name] = v
		case int64:
			values[prefix+name] = strconv.FormatInt(v, 10)
		case float64:
			values[prefix+name] = strconv.FormatFloat(v, 'g', -1, 64)
		case bool:
			values[prefix+name] = strconv.FormatBool(v)
		default: // a list or a time, which every parser refuses
			values[prefix+name] = fmt.Sprint(v)
		}
	}
}
