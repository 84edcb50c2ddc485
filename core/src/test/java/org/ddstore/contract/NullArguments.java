// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Calls all public methods of types with null for one argument after the other. Each call has to
 * fail by an exception that names the argument, unless null is a value of it.
 */
public final class NullArguments {
  private final Map<Class<?>, Object> samples = new HashMap<>();
  private final Set<String> nullable = new HashSet<>();
  private final List<String> problems = new ArrayList<>();
  private int calls;

  /** Sets the value of the other arguments of this type. */
  public <T> NullArguments sample(Class<T> type, T value) {
    samples.put(type, value);
    return this;
  }

  /**
   * Arguments that may be null by their documentation.
   *
   * @param arguments as in {@code DDStore.open(transport)}
   */
  public NullArguments allow(String... arguments) {
    nullable.addAll(List.of(arguments));
    return this;
  }

  /** Calls the static methods and constructors of a type. */
  public NullArguments callStatic(Class<?>... types) {
    for (Class<?> type : types) {
      for (Constructor<?> constructor : type.getConstructors()) {
        if (!Modifier.isAbstract(type.getModifiers())) {
          callAll(constructor, constructor::newInstance);
        }
      }
      Arrays.stream(type.getMethods())
          .filter(method -> Modifier.isStatic(method.getModifiers()))
          .filter(method -> isOurs(method) && !isValueOf(method))
          .forEach(method -> callAll(method, arguments -> method.invoke(null, arguments)));
    }
    return this;
  }

  /** Calls the methods of an object that a public type has, and the static ones of the type. */
  public <T> NullArguments call(Class<T> type, T object) {
    callStatic(type);
    for (Method method : type.getMethods()) {
      if (isOurs(method) && !Modifier.isStatic(method.getModifiers()) && !isEquals(method)) {
        callAll(method, arguments -> method.invoke(object, arguments));
      }
    }
    return this;
  }

  /** As {@link #call}, of an object of the type itself. */
  @SuppressWarnings("unchecked")
  public NullArguments call(Object... objects) {
    for (Object object : objects) {
      call((Class<Object>) object.getClass(), object);
    }
    return this;
  }

  private static boolean isOurs(Method method) {
    return method.getDeclaringClass().getName().startsWith("org.ddstore.");
  }

  /** Returns true for {@code valueOf} of an enum, which the JDK implements. */
  private static boolean isValueOf(Method method) {
    return method.getDeclaringClass().isEnum() && method.getName().equals("valueOf");
  }

  private static boolean isEquals(Method method) {
    return method.getName().equals("equals") && method.getParameterCount() == 1;
  }

  private interface Call {
    Object with(Object... arguments) throws ReflectiveOperationException;
  }

  private void callAll(Executable executable, Call call) {
    if (executable.isSynthetic()) {
      return;
    }
    Parameter[] parameters = executable.getParameters();
    for (int p = 0; p < parameters.length; p++) {
      String name =
          "%s.%s(%s)"
              .formatted(
                  executable.getDeclaringClass().getSimpleName(),
                  executable instanceof Method ? executable.getName() : "new",
                  parameters[p].getName());
      if (!parameters[p].getType().isPrimitive() && !nullable.contains(name)) {
        Object[] arguments = new Object[parameters.length]; // null where it is to be named
        for (int other = 0; other < parameters.length; other++) {
          arguments[other] = other == p ? null : argument(parameters[other]);
        }
        callOnce(name, parameters[p].getName(), call, arguments);
      }
    }
  }

  private void callOnce(String name, String argument, Call call, Object... arguments) {
    calls++;
    try {
      call.with(arguments);
      problems.add(name + " takes null");
    } catch (InvocationTargetException e) {
      String message = String.valueOf(e.getCause().getMessage());
      boolean named = message.matches("(?s).*\\b(" + argument + "|" + without(argument) + ")\\b.*");
      boolean bare = message.startsWith("Cannot ") && message.contains(" because ");
      if (!named || bare || e.getCause() instanceof AssertionError) {
        problems.add("%s throws %s".formatted(name, e.getCause()));
      }
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(name, e);
    }
  }

  /** The name of an argument that is called new because there is one already. */
  private static String without(String argument) {
    return argument.matches("new[A-Z].*")
        ? argument.substring(3, 4).toLowerCase(Locale.ROOT) + argument.substring(4)
        : argument;
  }

  private Object argument(Parameter parameter) {
    Class<?> type = parameter.getType();
    if (samples.containsKey(type)) {
      return samples.get(type);
    }
    if (type == boolean.class) {
      return false;
    }
    if (type.isPrimitive()) {
      return Array.get(Array.newInstance(type, 1), 0);
    }
    if (type.isArray()) {
      return Array.newInstance(type.getComponentType(), 0);
    }
    if (type.isEnum()) {
      return type.getEnumConstants()[0];
    }
    throw new AssertionError("no sample of " + type + " for " + parameter);
  }

  /** Fails if some calls did not name their argument, or if there were none. */
  public void check() {
    assertThat(calls).isPositive();
    assertThat(problems).isEmpty();
  }
}
