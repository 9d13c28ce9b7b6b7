// Command type_facts reads the API types of one Kubernetes release as Go source and prints, as JSON, what gen_builtin cannot
// learn from an OpenAPI document of another release: which fields there are, which are required, the list and map types, and
// which fields Go leaves out when they have the zero value.
//
//	go run . $(go list -m -f '{{.Dir}}' k8s.io/api k8s.io/apimachinery k8s.io/apiextensions-apiserver) > types.json
package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

type field struct {
	Required bool     `json:"required,omitempty"`
	List     string   `json:"list,omitempty"`
	Keys     []string `json:"keys,omitempty"`
	Map      string   `json:"map,omitempty"`
	Bytes    bool     `json:"bytes,omitempty"`
	Omits    bool     `json:"omits,omitempty"`
	Inline   string   `json:"-"`
	named    string   // a type whose definition says whether the zero value is left out
}

type fields map[string]field

// Types by "group.version.Name"; inlined types are resolved at the end.
var all = map[string]fields{}

// Whether encoding/json takes values of the named type for empty at all: structs never are.
var hasEmpty = map[string]bool{"types.UID": true}

func typeName(expr ast.Expr, home string) string {
	switch it := expr.(type) {
	case *ast.StarExpr:
		return typeName(it.X, home)
	case *ast.Ident:
		return home + "." + it.Name
	case *ast.SelectorExpr:
		if pkg, ok := it.X.(*ast.Ident); ok && pkg.Name == "metav1" {
			return "meta.v1." + it.Sel.Name
		} else if ok && (pkg.Name == "v1" || pkg.Name == "corev1") {
			return "core.v1." + it.Sel.Name
		}
	}
	return ""
}

// Whether values of the type are []byte, at once or in a map.
func isBytes(expr ast.Expr) bool {
	switch it := expr.(type) {
	case *ast.ArrayType:
		name, ok := it.Elt.(*ast.Ident)
		return ok && name.Name == "byte"
	case *ast.MapType:
		return isBytes(it.Value)
	}
	return false
}

// Whether omitempty leaves out a value of the type that is no pointer, or the name of the type that knows.
func emptiness(expr ast.Expr, home string) (bool, string) {
	switch it := expr.(type) {
	case *ast.ArrayType, *ast.MapType:
		return true, ""
	case *ast.Ident:
		if it.Obj == nil && strings.ToLower(it.Name) == it.Name {
			return true, ""
		}
		return false, typeName(it, home)
	case *ast.SelectorExpr:
		if pkg, ok := it.X.(*ast.Ident); ok && pkg.Name == "types" {
			return false, "types." + it.Sel.Name
		}
		return false, typeName(it, home)
	}
	return false, ""
}

func factsOf(one *ast.Field, tag, home string) field {
	_, options, _ := strings.Cut(tag, ",")
	facts := field{Required: !strings.Contains(options, "omitempty"), Bytes: isBytes(one.Type)}
	if strings.Contains(options, "omitempty") {
		facts.Omits, facts.named = emptiness(one.Type, home)
	}
	if one.Doc == nil {
		return facts
	}
	for _, comment := range one.Doc.List {
		text := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
		key, value, _ := strings.Cut(text, "=")
		switch key {
		case "+optional":
			facts.Required = false
		case "+listType":
			facts.List = value
		case "+listMapKey":
			facts.Keys = append(facts.Keys, value)
		case "+mapType", "+structType":
			facts.Map = value
		}
	}
	return facts
}

func read(path, home string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		panic(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.TypeSpec)
		if !ok {
			return true
		}
		structure, ok := spec.Type.(*ast.StructType)
		if !ok {
			hasEmpty[home+"."+spec.Name.Name], _ = emptiness(spec.Type, home)
			return true
		}
		found := fields{}
		for _, one := range structure.Fields.List {
			if one.Tag == nil {
				continue
			}
			tag := reflect.StructTag(strings.Trim(one.Tag.Value, "`")).Get("json")
			name, options, _ := strings.Cut(tag, ",")
			if strings.Contains(options, "inline") {
				inlined := typeName(one.Type, home)
				found["+"+inlined] = field{Inline: inlined}
			} else if name != "" && name != "-" {
				found[name] = factsOf(one, tag, home)
			}
		}
		all[home+"."+spec.Name.Name] = found
		return true
	})
}

func resolved(name string) fields {
	out := fields{}
	for key, one := range all[name] {
		if one.Inline == "" {
			one.Omits = one.Omits || hasEmpty[one.named]
			out[key] = one
			continue
		}
		for inner, facts := range resolved(one.Inline) {
			out[inner] = facts
		}
	}
	return out
}

func main() {
	for _, root := range os.Args[1:] {
		_ = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.Contains(filepath.Base(path), "types") || !strings.HasSuffix(path, ".go") {
				return err
			}
			parts := strings.Split(filepath.Dir(path), string(filepath.Separator))
			version, group := parts[len(parts)-1], parts[len(parts)-2]
			if strings.HasPrefix(version, "v") {
				read(path, group+"."+version)
			}
			return nil
		})
	}
	out := map[string]fields{}
	for name := range all {
		out[name] = resolved(name)
	}
	text, _ := json.Marshal(out)
	os.Stdout.Write(append(text, '\n'))
}
