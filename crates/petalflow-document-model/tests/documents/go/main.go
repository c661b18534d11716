// Fills templates with Go's text/template: the cases are JSON on the standard input, the results JSON on the standard
// output. `tests/go_templates.rs` runs it.
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"text/template"
)

type testCase struct {
	Template string          `json:"template"`
	Vars     json.RawMessage `json:"vars"`
}

type result struct {
	Output *string `json:"output,omitempty"`
	Error  *string `json:"error,omitempty"`
}

// Lists and objects are written as JSON, as in petalflow.
type list []any
type object map[string]any

func (it list) String() string   { return asJSON(it) }
func (it object) String() string { return asJSON(it) }

func asJSON(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// Whole numbers are int, others float64.
func converted(value any) any {
	switch value := value.(type) {
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return int(whole)
		}
		float, err := value.Float64()
		if err != nil {
			panic(err)
		}
		return float
	case []any:
		items := list{}
		for _, item := range value {
			items = append(items, converted(item))
		}
		return items
	case map[string]any:
		fields := object{}
		for name, field := range value {
			fields[name] = converted(field)
		}
		return fields
	}
	return value
}

func fill(it testCase) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(it.Vars))
	decoder.UseNumber()
	var vars any
	if err := decoder.Decode(&vars); err != nil {
		panic(err)
	}
	functions := template.FuncMap{"upper": strings.ToUpper, "lower": strings.ToLower, "json": asJSON}
	parsed, err := template.New("").Option("missingkey=error").Funcs(functions).Parse(it.Template)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, converted(vars))
	return out.String(), err
}

func main() {
	var cases []testCase
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	results := []result{}
	for _, it := range cases {
		output, err := fill(it)
		if err != nil {
			text := err.Error()
			results = append(results, result{Error: &text})
		} else {
			results = append(results, result{Output: &output})
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		panic(err)
	}
}
