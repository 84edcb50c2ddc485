// SPDX-License-Identifier: Apache-2.0
package org.ddstore.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The types that the Javadoc of the site describes. */
final class ApiTypes {
  /** No types: the site has no Javadoc. */
  static final ApiTypes NONE = new ApiTypes();

  /** An entry of the list; later releases of Javadoc than 17 add the kind of the type. */
  private static final Pattern TYPE =
      Pattern.compile("\\{\"p\":\"([\\w.]+)\",\"l\":\"([\\w.]+)\"[,}]");

  /** Paths in the site by full name, in the order of names. */
  private final TreeMap<String, String> paths = new TreeMap<>();

  private final Map<String, String> pathsBySimpleName = new LinkedHashMap<>();

  private ApiTypes() {}

  /**
   * Reads the list that Javadoc writes for its own search.
   *
   * @param folder folder of the Javadoc
   * @throws IOException if the list cannot be read, or has no types
   */
  static ApiTypes read(Path folder) throws IOException {
    ApiTypes types = new ApiTypes();
    Matcher matcher = TYPE.matcher(Files.readString(folder.resolve("type-search-index.js")));
    while (matcher.find()) {
      String packageName = matcher.group(1);
      String name = matcher.group(2);
      String path = "%s/%s/%s.html".formatted(SitePaths.API, packageName.replace('.', '/'), name);
      types.paths.put(packageName + "." + name, path);
      types.pathsBySimpleName.put(name, path);
    }
    if (types.isEmpty()) {
      throw new IOException("no types in type-search-index.js of " + folder);
    }
    return types;
  }

  /** Returns whether the site has no Javadoc. */
  boolean isEmpty() {
    return paths.isEmpty();
  }

  /** Returns the paths of the types in the site, by full name. */
  SortedMap<String, String> paths() {
    return paths;
  }

  /**
   * Returns the path of a type in the site.
   *
   * @param name full name, or name without its package
   */
  Optional<String> find(String name) {
    return Optional.ofNullable(paths.getOrDefault(name, pathsBySimpleName.get(name)));
  }
}
