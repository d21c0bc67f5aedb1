// Command protogen compiles the .proto files of package plugin to Go, and to
// the descriptor that the Python bridge makes its messages from. It needs
// neither protoc nor a network: the compiler is a Go library, and the two code
// generators are tools of this module, so go.mod pins all that shapes the
// output.
//
//	go run ./internal/protogen -proto proto -out internal/siteproviderv1
//	go run ./internal/protogen -proto proto -out "" -python FILE
package main

//go:generate go run . -proto ../../proto -out= -python ../../python/siteprovider_nlweb/_descriptor.py

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

// module is cut off the names of the generated files.
const module = "github.com/siteprovider/siteprovider/plugin/internal/siteproviderv1"

func main() {
	protoDir := flag.String("proto", "proto", "directory that import paths start from")
	outDir := flag.String("out", "internal/siteproviderv1", "directory of the generated Go files; empty: none")
	pythonFile := flag.String("python", "", "the generated Python file; empty: none")
	flag.Parse()
	if err := generate(context.Background(), *protoDir, *outDir, *pythonFile); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func generate(ctx context.Context, protoDir, outDir, pythonFile string) error {
	request, err := compile(ctx, protoDir)
	if err != nil {
		return err
	}
	if pythonFile != "" {
		text, err := pythonDescriptor(request.ProtoFile)
		if err != nil {
			return err
		}
		if err := os.WriteFile(pythonFile, text, 0o644); err != nil {
			return err
		}
	}
	if outDir == "" {
		return nil
	}
	request.Parameter = proto.String("module=" + module)
	for _, tool := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := runTool(ctx, tool, request, outDir); err != nil {
			return fmt.Errorf("%s: %w", tool, err)
		}
	}
	return nil
}

// compile returns what protoc would hand to a code generator.
func compile(ctx context.Context, protoDir string) (*pluginpb.CodeGeneratorRequest, error) {
	var names []string
	err := filepath.WalkDir(protoDir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".proto") {
			rel, relErr := filepath.Rel(protoDir, path)
			names, err = append(names, filepath.ToSlash(rel)), relErr
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{protoDir}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names}
	for _, f := range files {
		request.ProtoFile = append(request.ProtoFile, protoutil.ProtoFromFileDescriptor(f))
	}
	return request, nil
}

func runTool(ctx context.Context, tool string, request *pluginpb.CodeGeneratorRequest, outDir string) error {
	in, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", tool)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return fmt.Errorf("%s", response.GetError())
	}
	for _, f := range response.File {
		path := filepath.Join(outDir, filepath.FromSlash(f.GetName()))
		if err := os.WriteFile(path, []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
