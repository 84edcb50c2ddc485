// SPDX-License-Identifier: Apache-2.0
/** The evaluation of cells: JShell and a Spark application, without Jupyter. */
@Internal
package org.ddstore.notebook;

import org.ddstore.types.Internal;
