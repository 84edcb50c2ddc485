// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.apache.xbean.asm9.ClassReader;
import org.apache.xbean.asm9.ClassVisitor;
import org.apache.xbean.asm9.FieldVisitor;
import org.apache.xbean.asm9.MethodVisitor;
import org.apache.xbean.asm9.Opcodes;
import org.ddstore.examples.ClassReferences.Reference;

/** Looks in a folder of jars for what the classes of one jar need of them. */
final class JarLinks implements AutoCloseable {
  /** Names of DDStore's own classes; shaded classes run without Spark. */
  private static final String OURS = "org/ddstore/(?!shaded/).*\\.class";

  /**
   * Part of the name by which Scala calls a method of a trait's parent; only the trait's own
   * bytecode contains it.
   */
  private static final String SUPER_ACCESSOR = "$$super$";

  private final JarFile jar;
  private final URLClassLoader loader;
  private final List<JarEntry> classes;

  private JarLinks(JarFile jar, URLClassLoader loader) {
    this.jar = jar;
    this.loader = loader;
    this.classes =
        Collections.list(jar.entries()).stream()
            .filter(entry -> entry.getName().matches(OURS))
            .toList();
  }

  static JarLinks open(Path jar, Path folder, Path... others) throws IOException {
    List<URL> places = new ArrayList<>(List.of(jar.toUri().toURL()));
    for (Path other : others) {
      places.add(other.toUri().toURL());
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        places.add(file.toUri().toURL());
      }
    }
    return new JarLinks(
        new JarFile(jar.toFile()),
        new URLClassLoader(places.toArray(new URL[0]), ClassLoader.getPlatformClassLoader()));
  }

  List<JarEntry> classes() {
    return classes;
  }

  /** Returns the missing classes and members, and the classes that need them. */
  Set<String> broken() throws IOException {
    Set<String> broken = new TreeSet<>();
    for (JarEntry entry : classes) {
      String name = entry.getName().replace(".class", "");
      try (InputStream file = jar.getInputStream(entry)) {
        for (Reference reference : ClassReferences.read(file)) {
          if (!resolves(reference)) {
            broken.add("%s needs %s".formatted(name, reference));
          }
        }
      }
      for (String missing : unimplementedMethods(name)) {
        broken.add("%s does not implement %s".formatted(name, missing));
      }
    }
    return broken;
  }

  private boolean resolves(Reference reference) throws IOException {
    if (reference.owner().startsWith("java/")) {
      return true; // the compiler has looked, with --release
    }
    return reference.name() == null
        ? find(reference.owner()) != null
        : hasMember(reference.owner(), reference.name() + reference.descriptor());
  }

  private Class<?> load(String name) throws ClassNotFoundException {
    return Class.forName(name.replace('/', '.'), false, loader);
  }

  private URL find(String type) {
    return loader.getResource(type + ".class");
  }

  /** Reads class files: reflection fails where a class names one that no release of Spark has. */
  private boolean hasMember(String type, String member) throws IOException {
    URL place = find(type);
    if (place == null) {
      return false;
    }
    ClassReader file;
    try (InputStream in = place.openStream()) {
      file = new ClassReader(in);
    }
    Set<String> members = new HashSet<>();
    file.accept(
        new ClassVisitor(Opcodes.ASM9) {
          @Override
          public FieldVisitor visitField(
              int access, String name, String descriptor, String signature, Object value) {
            members.add(name + descriptor);
            return null;
          }

          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] thrown) {
            members.add(name + descriptor);
            return null;
          }
        },
        ClassReader.SKIP_CODE);
    if (members.contains(member)) {
      return true;
    }
    if (member.startsWith("<init>")) {
      return false;
    }
    List<String> parents = new ArrayList<>(List.of(file.getInterfaces()));
    if (file.getSuperName() != null) {
      parents.add(file.getSuperName());
    }
    for (String parent : parents) {
      if (hasMember(parent, member)) {
        return true;
      }
    }
    return false;
  }

  private List<String> unimplementedMethods(String name) {
    try {
      Class<?> type = load(name);
      if (Modifier.isAbstract(type.getModifiers())) {
        return List.of();
      }
      return Arrays.stream(type.getMethods())
          .filter(method -> Modifier.isAbstract(method.getModifiers()))
          .filter(method -> !method.getName().contains(SUPER_ACCESSOR))
          .map(Method::toString)
          .toList();
    } catch (ClassNotFoundException | LinkageError e) {
      return List.of("what it stands on: " + e);
    }
  }

  @Override
  public void close() throws IOException {
    loader.close();
    jar.close();
  }
}
