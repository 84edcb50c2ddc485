// SPDX-License-Identifier: Apache-2.0
/** The kernel of Jupyter: its protocol on top of the evaluation of cells. */
@Internal
package org.ddstore.notebook.kernel;

import org.ddstore.types.Internal;
