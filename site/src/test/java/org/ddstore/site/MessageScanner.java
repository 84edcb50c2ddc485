// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.ThrowTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Finds the messages in sources of Java: the literals in {@code throw} statements, in arguments of
 * new exceptions and problems, in warnings and errors of the log, and in methods that return a
 * problem or a warning as text. It does not follow a text through variables and other methods. The
 * argument of the scan is whether the code makes a message.
 */
final class MessageScanner extends TreeScanner<Void, Boolean> {
  private static final Pattern CARRIER = Pattern.compile("\\w*(Exception|Error|Failure)");

  /** A carrier whose first argument is the problem; the second one is the remedy. */
  private static final String PROBLEM = "Problem";

  private static final Set<String> LOGGERS = Set.of("LOG.warn", "LOG.error", "LOG.log");

  /** Methods whose arguments are compared with a text, or inserted into it. */
  private static final Set<String> TAKING_NO_MESSAGE =
      Set.of("contains", "endsWith", "equals", "formatted", "matches", "startsWith");

  private static final Pattern RETURNING_MESSAGE = Pattern.compile("(?i)\\w*(problem|warning)");
  private static final Set<String> TEXTS = Set.of("String", "Optional<String>", "List<String>");

  private final Path root;
  private final Trees trees;
  private final CompilationUnitTree file;
  private final Map<String, ExpressionTree> constants = new HashMap<>();
  private final List<PageMessage> messages;

  private MessageScanner(
      Path root, Trees trees, CompilationUnitTree file, List<PageMessage> messages) {
    this.root = root;
    this.trees = trees;
    this.file = file;
    this.messages = messages;
  }

  /**
   * Returns the messages in the main sources of a module.
   *
   * @param root root folder of the project
   */
  static List<PageMessage> scan(Path root, String module) throws IOException {
    List<PageMessage> messages = new ArrayList<>();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
        Stream<Path> paths = Files.walk(root.resolve(module).resolve("src/main/java"))) {
      List<Path> sources =
          paths.filter(path -> path.toString().endsWith(".java")).sorted().toList();
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null,
                  files,
                  null,
                  List.of("-proc:none"),
                  null,
                  files.getJavaFileObjectsFromPaths(sources));
      for (CompilationUnitTree file : task.parse()) {
        MessageScanner scanner = new MessageScanner(root, Trees.instance(task), file, messages);
        scanner.new Constants().scan(file, null);
        scanner.scan(file, false);
      }
    }
    return messages;
  }

  @Override
  public Void visitMethod(MethodTree method, Boolean isMessage) {
    boolean returnsMessage =
        method.getReturnType() != null
            && TEXTS.contains(method.getReturnType().toString())
            && RETURNING_MESSAGE.matcher(method.getName()).matches();
    return super.visitMethod(method, returnsMessage);
  }

  @Override
  public Void visitThrow(ThrowTree statement, Boolean isMessage) {
    return super.visitThrow(statement, true);
  }

  @Override
  public Void visitNewClass(NewClassTree created, Boolean isMessage) {
    String type = lastName(created.getIdentifier().toString());
    if (type.equals(PROBLEM)) {
      created.getArguments().stream().findFirst().ifPresent(problem -> scan(problem, true));
    } else {
      scan(created.getArguments(), isMessage || CARRIER.matcher(type).matches());
    }
    return scan(created.getClassBody(), false);
  }

  @Override
  public Void visitMethodInvocation(MethodInvocationTree call, Boolean isMessage) {
    ExpressionTree method = call.getMethodSelect();
    boolean isLog = LOGGERS.contains(method.toString());
    scan(method, isMessage);
    boolean takesNone = TAKING_NO_MESSAGE.contains(lastName(method));
    return scan(call.getArguments(), isLog || (isMessage && !takesNone));
  }

  private static String lastName(Tree name) {
    return name instanceof MemberSelectTree member
        ? member.getIdentifier().toString()
        : lastName(name.toString());
  }

  private static String lastName(String name) {
    String raw = name.contains("<") ? name.substring(0, name.indexOf('<')) : name;
    return raw.substring(raw.lastIndexOf('.') + 1);
  }

  @Override
  public Void visitAnnotation(AnnotationTree annotation, Boolean isMessage) {
    return null;
  }

  @Override
  public Void visitBinary(BinaryTree binary, Boolean isMessage) {
    if (binary.getKind() != Tree.Kind.PLUS) {
      return super.visitBinary(binary, isMessage);
    }
    add(binary, isMessage);
    return scanOperands(binary, isMessage);
  }

  /** Scans the expressions between the literals of a text. */
  private Void scanOperands(ExpressionTree text, Boolean isMessage) {
    if (text instanceof BinaryTree binary && binary.getKind() == Tree.Kind.PLUS) {
      scanOperands(binary.getLeftOperand(), isMessage);
      return scanOperands(binary.getRightOperand(), isMessage);
    } else if (text instanceof ParenthesizedTree inner) {
      return scanOperands(inner.getExpression(), isMessage);
    }
    return text instanceof LiteralTree ? null : scan(text, isMessage);
  }

  @Override
  public Void visitLiteral(LiteralTree literal, Boolean isMessage) {
    if (literal.getValue() instanceof String) {
      add(literal, isMessage);
    }
    return null;
  }

  @Override
  public Void visitIdentifier(IdentifierTree name, Boolean isMessage) {
    ExpressionTree constant = constants.get(name.getName().toString());
    if (constant != null) {
      add(constant, isMessage);
    }
    return null;
  }

  private void add(ExpressionTree expression, boolean isMessage) {
    if (isMessage) {
      long start = trees.getSourcePositions().getStartPosition(file, expression);
      Path path = root.relativize(Path.of(file.getSourceFile().toUri()));
      String place = "%s:%d".formatted(path, file.getLineMap().getLineNumber(start));
      messages.add(new PageMessage(place, text(expression)));
    }
  }

  private static String text(ExpressionTree expression) {
    if (expression instanceof BinaryTree binary && binary.getKind() == Tree.Kind.PLUS) {
      return text(binary.getLeftOperand()) + text(binary.getRightOperand());
    } else if (expression instanceof ParenthesizedTree inner) {
      return text(inner.getExpression());
    }
    return expression instanceof LiteralTree literal && literal.getValue() instanceof String text
        ? text
        : PageMessage.VALUE;
  }

  /** Collects the texts that a file keeps in constants. */
  private final class Constants extends TreeScanner<Void, Void> {
    @Override
    public Void visitVariable(VariableTree variable, Void unused) {
      Set<Modifier> modifiers = variable.getModifiers().getFlags();
      if (modifiers.containsAll(Set.of(Modifier.STATIC, Modifier.FINAL))
          && variable.getType().toString().equals("String")
          && variable.getInitializer() != null) {
        constants.put(variable.getName().toString(), variable.getInitializer());
      }
      return super.visitVariable(variable, null);
    }
  }
}
