// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The lengths of classes and methods in lines of source, longest first. A class is as long as its
 * file. A method extends from its annotations or signature to its closing brace.
 */
record SourceSizes(List<Size> classes, List<Size> methods) {
  /** Maximum number of lines of a class. */
  static final int MAX_CLASS_LINES = 400;

  /** Maximum number of lines of a method. */
  static final int MAX_METHOD_LINES = 60;

  private static final Comparator<Size> LONGEST_FIRST =
      Comparator.comparingInt(Size::lines).reversed().thenComparing(Size::name);

  /** The number of lines of a class or method. */
  record Size(String name, int lines) {
    @Override
    public String toString() {
      return "%4d  %s".formatted(lines, name);
    }
  }

  static SourceSizes of(Collection<Path> javaFiles) throws IOException {
    List<Size> classes = new ArrayList<>();
    for (Path file : javaFiles) {
      classes.add(new Size(nameOf(file), Files.readAllLines(file).size()));
    }
    classes.sort(LONGEST_FIRST);
    return new SourceSizes(classes, methods(javaFiles));
  }

  private static List<Size> methods(Collection<Path> javaFiles) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<Size> methods = new ArrayList<>();
    try (StandardJavaFileManager files =
        compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
      JavacTask parser =
          (JavacTask)
              compiler.getTask(
                  null, files, null, null, null, files.getJavaFileObjectsFromPaths(javaFiles));
      SourcePositions positions = Trees.instance(parser).getSourcePositions();
      for (CompilationUnitTree file : parser.parse()) {
        measure(file, positions, methods);
      }
    }
    methods.sort(LONGEST_FIRST);
    return methods;
  }

  private static void measure(
      CompilationUnitTree file, SourcePositions positions, List<Size> methods) {
    LineMap lines = file.getLineMap();
    String name = nameOf(Path.of(file.getSourceFile().toUri()));
    new TreeScanner<Void, Void>() {
      @Override
      public Void visitMethod(MethodTree method, Void unused) {
        long first = lines.getLineNumber(positions.getStartPosition(file, method));
        long last = lines.getLineNumber(positions.getEndPosition(file, method));
        methods.add(new Size(name + "#" + method.getName(), (int) (last - first + 1)));
        return super.visitMethod(method, null);
      }
    }.scan(file, null);
  }

  /** Returns the name of the file without its suffix. */
  private static String nameOf(Path file) {
    return file.getFileName().toString().replace(".java", "");
  }

  /** Returns the classes that are too long. */
  List<Size> longClasses() {
    return classes.stream().filter(size -> size.lines() > MAX_CLASS_LINES).toList();
  }

  /** Returns the methods that are too long. */
  List<Size> longMethods() {
    return methods.stream().filter(size -> size.lines() > MAX_METHOD_LINES).toList();
  }
}
