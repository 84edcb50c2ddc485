// SPDX-License-Identifier: Apache-2.0
/** The command {@code ./ddstore example}, which starts the examples. */
@Internal
package org.ddstore.examples.command;

import org.ddstore.types.Internal;
