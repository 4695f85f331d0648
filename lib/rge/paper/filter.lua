-- Numbers and cross-references as Quarto gives them, for pandoc's html, typst and latex writers.
-- It runs before citeproc, so that @fig-x and its like are never taken for citations.

local KINDS = {fig = 'Figure', tbl = 'Table', eq = 'Equation', sec = 'Section'}
local TYPST, LATEX = FORMAT:match 'typst' ~= nil, FORMAT:match 'latex' ~= nil
local PRINT = TYPST or LATEX
local counts, labels, problems = {}, {}, {}

local function kind_of(id)
  local kind = (id or ''):match '^(%a+)%-'
  return KINDS[kind] and kind
end

local function next_label(kind, id)
  counts[kind] = (counts[kind] or 0) + 1
  labels[id] = KINDS[kind] .. '\u{a0}' .. counts[kind]
  return labels[id]
end

local function captioned(label, inlines, div)
  local long = pandoc.Inlines{pandoc.Strong{pandoc.Str(label .. '.')}, pandoc.Space()}
  long:extend(inlines)
  if div.attributes.href and not PRINT then
    local name = div.attributes.source:match '[^/]+$'
    long:extend{pandoc.Space(),
                pandoc.Link({pandoc.Str(name)}, div.attributes.href, '', {class = 'source'})}
  end
  return {long = pandoc.Blocks{pandoc.Plain(long)}}
end

-- Typst's own image call carries the alternative text, which pandoc's writer leaves out.
local function typst_image(image)
  local function quoted(text) return '"' .. text:gsub('\\', '\\\\'):gsub('"', '\\"') .. '"' end
  local alt = image.attributes.alt or pandoc.utils.stringify(image.caption)
  return pandoc.RawInline('typst', '#picture(' .. quoted(image.src) .. ', ' .. quoted(alt) .. ')')
end

local function pdf_image(image)
  image.src = image.src:gsub('%.svg$', '.pdf')
  return image
end

-- Long identifiers get places where a narrow column may break them.
local function breakable(text)
  if #text <= 20 then return text end
  text = text:gsub('[/_.-]', '%0\u{200b}')
  return (text:gsub('%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x', '%0\u{200b}'))
end

local function fit_for_print(tbl)
  for _, spec in ipairs(tbl.colspecs) do
    if spec[1] == 'AlignDefault' then spec[1] = 'AlignLeft' end
  end
  return tbl:walk{
    Str = function(s) return pandoc.Str(breakable(s.text)) end,
    Code = function(c) return pandoc.Code(breakable(c.text)) end,
  }
end

-- On a screen short cells stay on one line and a wide table scrolls by itself.
local function fit_for_screen(tbl)
  for _, body in ipairs(tbl.bodies) do
    for _, row in ipairs(body.body) do
      for _, cell in ipairs(row.cells) do
        if #pandoc.utils.stringify(cell.contents) <= 26 then cell.attr.classes:insert 'short' end
      end
    end
  end
  return pandoc.Div({tbl}, pandoc.Attr('', {'scroll'}, {tabindex = '0'}))
end

-- LaTeX lays no columns out: each gets room by its longest word, then by its longest cell.
local LINE = 92  -- characters of small type that a line holds
local function with_widths(tbl)
  local longest, words = {}, {}
  local function measure(rows)
    for _, row in ipairs(rows) do
      for i, cell in ipairs(row.cells) do
        local text = pandoc.utils.stringify(cell.contents):gsub('\u{200b}', ' ')
        longest[i] = math.max(longest[i] or 1, utf8.len(text))
        for word in text:gmatch '%S+' do
          words[i] = math.max(words[i] or 1, utf8.len(word))
        end
      end
    end
  end
  measure(tbl.head.rows)
  for _, body in ipairs(tbl.bodies) do measure(body.body) end
  local all, least = 0, 0
  for i = 1, #tbl.colspecs do
    all, least = all + (longest[i] or 1) + 2, least + (words[i] or 1) + 2
  end
  if all <= LINE then return end
  for i, spec in ipairs(tbl.colspecs) do
    local own = (words[i] or 1) + 2
    local more = (longest[i] or 1) + 2 - own
    if least < LINE then own = own + more * (LINE - least) / math.max(1, all - least) end
    spec[2] = own / math.max(LINE, least)
  end
end

-- Widths guessed from the length of source lines are worse than those of the layout engines.
local function fitted(tbl)
  for _, spec in ipairs(tbl.colspecs) do spec[2] = nil end
  if not PRINT then return fit_for_screen(tbl) end
  tbl = fit_for_print(tbl)
  if LATEX then with_widths(tbl) end
  return tbl
end

-- Wide tables in smaller type.
local function in_size(tbl)
  local n = #tbl.colspecs
  local size = n > 10 and 'tiny' or n > 7 and 'scriptsize' or 'footnotesize'
  return pandoc.Blocks{pandoc.RawBlock('latex', '{\\' .. size), tbl, pandoc.RawBlock('latex', '}')}
end

local function table_block(tbl, id, caption)
  if PRINT then
    tbl = fitted(tbl)
    tbl.caption, tbl.attr = caption, pandoc.Attr(id)
    return LATEX and pandoc.Div(in_size(tbl)) or tbl
  end
  tbl.caption = {long = pandoc.Blocks{}}
  return pandoc.Figure({fitted(tbl)}, caption, pandoc.Attr(id, {'table'}))
end

-- ::: {#fig-x} … :::, ::: {#tbl-x} … :::  the last paragraph is the caption
local function figure_or_table(div)
  local kind = kind_of(div.identifier)
  if kind ~= 'fig' and kind ~= 'tbl' then return end
  local body = div.content
  local last = body[#body]
  if #body < 2 or last.t ~= 'Para' then
    problems[#problems + 1] = div.identifier .. ' has no caption'
    return
  end
  body:remove(#body)
  local caption = captioned(next_label(kind, div.identifier), last.content, div)
  if kind == 'fig' then
    return pandoc.Figure(body, caption, pandoc.Attr(div.identifier)), false
  end
  for i, block in ipairs(body) do
    if block.t == 'Table' then
      body[i] = table_block(block, div.identifier, caption)
      return body, false
    end
  end
  problems[#problems + 1] = div.identifier .. ' holds no table'
end

local function loose_table(tbl)
  tbl = fitted(tbl)
  return LATEX and in_size(tbl) or tbl, false
end

-- ![caption](file){#fig-x}
local function numbered_figure(figure)
  if not kind_of(figure.identifier) then return end
  local inlines = pandoc.utils.blocks_to_inlines(figure.caption.long)
  figure.caption = captioned(next_label('fig', figure.identifier), inlines, figure)
  return figure, false
end

-- $$ … $$ {#eq-x}
local function numbered_equation(para)
  local first, last = para.content[1], para.content[#para.content]
  local id = last and last.t == 'Str' and last.text:match '^{#(eq%-[%w_-]+)}$'
  if not id then return end
  if first.t ~= 'Math' or #para.content > 3 then
    problems[#problems + 1] = id .. ' does not stand alone in its paragraph'
    return
  end
  local number = '(' .. next_label('eq', id):match '%d+$' .. ')'
  if TYPST then
    local math = pandoc.write(pandoc.Pandoc{pandoc.Plain{first}}, 'typst'):gsub('%s+$', '')
    return pandoc.RawBlock('typst', '#[#set math.equation(numbering: _ => "' .. number .. '")\n' ..
                                    math .. ' <' .. id .. '>]')
  end
  if LATEX then
    return pandoc.RawBlock('latex', '\\begin{equation}\\label{' .. id .. '}\\tag{' ..
                                    number:sub(2, -2) .. '}\n' .. first.text .. '\n\\end{equation}')
  end
  local label = pandoc.Span({pandoc.Str(number)}, {class = 'eqno'})
  return pandoc.Div({pandoc.Plain{first}, pandoc.Plain{label}}, pandoc.Attr(id, {'equation'}))
end

local function number_sections(blocks)
  pandoc.Pandoc(pandoc.utils.make_sections(true, nil, blocks)):walk{
    Div = function(div)
      if kind_of(div.identifier) == 'sec' and div.attributes.number then
        labels[div.identifier] = KINDS.sec .. '\u{a0}' .. div.attributes.number
      end
    end,
  }
end

local function reference(cite)
  if not kind_of(cite.citations[1].id) then return end
  local out = pandoc.Inlines{}
  for i, item in ipairs(cite.citations) do
    local text = labels[item.id]
    if not text then
      problems[#problems + 1] = 'reference @' .. item.id .. ' leads nowhere'
      return
    end
    if item.mode == 'SuppressAuthor' then text = text:match '\u{a0}(.*)$' end
    if i > 1 then out:insert(pandoc.Str ', ') end
    out:insert(pandoc.Link({pandoc.Str(text)}, '#' .. item.id, '', {class = 'xref'}))
  end
  return out
end

function Pandoc(doc)
  number_sections(doc.blocks)
  doc = doc:walk{traverse = 'topdown', Div = figure_or_table, Figure = numbered_figure,
                 Table = loose_table, Para = numbered_equation}
  doc = doc:walk{Cite = reference}
  if TYPST then doc = doc:walk{Image = typst_image} end
  if LATEX then doc = doc:walk{Image = pdf_image} end
  if #problems > 0 then
    io.stderr:write(table.concat(problems, '\n') .. '\n')
    os.exit(3)
  end
  return doc
end
