// SPDX-License-Identifier: Apache-2.0
package org.ddstore.cli;

/**
 * A command of another jar, found by {@link java.util.ServiceLoader} and listed before {@code
 * help}. Its class has a public constructor without parameters and an annotation {@code @Command}.
 */
public interface CommandExtension {}
